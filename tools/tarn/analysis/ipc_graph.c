/* SPDX-License-Identifier: BSD-2-Clause */
/* ipc_graph.c - `tarn ipc --dot`: who calls whom, for Graphviz. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <tools/tarn/analysis/ipc.h>

enum { GRAPH_CALLS, GRAPH_TOTAL };
static const struct table_column graph_columns[] = {COUNT_COLUMN("calls"), TIME_COLUMN("total_ns")};

static void put_quoted(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text != '\0'; text++)
        if ((unsigned char)*text >= ' ') {
            if (*text == '"' || *text == '\\')
                fputc('\\', to);
            fputc(*text, to);
        }
    fputc('"', to);
}

/* The line's width grows with the share of all clients' time. */
static void put_edge(const struct ipc *ipc, FILE *to, const struct table_row *row, uint64_t all)
{
    uint64_t calls = row->cells[GRAPH_CALLS].count, ticks = row->cells[GRAPH_TOTAL].count;
    double ms = (double)analysis_ns(&ipc->analysis, ticks) * 1e-6;

    fprintf(to, "  %s [label=\"%" PRIu64 " calls\\n%.3f ms\\nmean %.1f us\", penwidth=%.2f];\n", row->name,
            calls, ms, ms * 1e3 / (double)calls, 1 + 6 * (double)ticks / (double)(all ? all : 1));
}

void ipc_draw_graph(struct ipc *ipc)
{
    struct table graph = {.columns = graph_columns, .column_count = 2};
    char server[FUNCTION_NAME_BYTES], *name;
    uint64_t all = 0;
    size_t size;
    FILE *to;

    for (size_t i = 0; i < ipc->edges.count; i++) {
        const struct map_entry *entry = ipc->edges.entries[i];
        struct table_row *row;

        if (ipc_edge_in(entry)->latency.count == 0)
            continue;
        to = open_memstream(&name, &size);
        put_quoted(to, ipc_client_name(ipc, entry));
        fputs(" -> ", to);
        put_quoted(to, functions_server(&ipc->functions, entry->key[1], server));
        fclose(to);
        row = table_row(&graph, 0, name);
        row->cells[GRAPH_CALLS].count += ipc_edge_in(entry)->latency.count;
        row->cells[GRAPH_TOTAL].count += ipc_edge_in(entry)->latency.total;
        all += ipc_edge_in(entry)->latency.total;
        free(name);
    }
    table_sort(&graph, GRAPH_TOTAL);
    to = open_memstream(&ipc->dot, &size);
    fputs("digraph ipc {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n", to);
    for (size_t i = 0; i < graph.count; i++)
        put_edge(ipc, to, graph.rows[i], all);
    fputs("}\n", to);
    fclose(to);
    table_free(&graph);
}
