/* SPDX-License-Identifier: BSD-2-Clause */
/* ipc_tables.c - the tables of calls; see ipc.h. */
#include <stdio.h>
#include <string.h>
#include <tools/tarn/analysis/ipc.h>

/* clang-format off */
#define PART_COLUMNS                                                                                    \
    TIME_COLUMN("to_server_ns"), TIME_COLUMN("running_ns"),                     \
    TIME_COLUMN("its_calls_ns"), TIME_COLUMN("ready_ns"),                             \
    TIME_COLUMN("locks_ns"), TIME_COLUMN("faults_ns"),                               \
    TIME_COLUMN("waits_ns"), TIME_COLUMN("deferred_ns"),                           \
    TIME_COLUMN("back_ns")
#define LATENCY_COLUMNS COUNT_COLUMN("errors"), DISTRIBUTION_COLUMNS("calls")
#define SUM_COLUMNS                                                                                     \
    COUNT_COLUMN("errors"), COUNT_COLUMN("calls"), TIME_COLUMN("total_ns"), \
    TIME_OF_ONE("mean_ns"), PART_COLUMNS
/* clang-format on */
static const struct table_column edge_columns[] = {LATENCY_COLUMNS};
static const struct table_column time_columns[] = {SUM_COLUMNS};
static const struct table_column process_columns[] = {SUM_COLUMNS, NUMBER_COLUMN("client_pid"),
                                                      NUMBER_COLUMN("server_pid"), COUNT_COLUMN("cut")};
static const struct table_column longest_columns[] = {LONGEST_COLUMNS, HEX_COLUMN("id"),
                                                      SIGNED_COLUMN("result")};
static const struct table_column request_columns[] = {HEX_COLUMN("id"),
                                                      WHEN_COLUMN("at_ns"),
                                                      TIME_COLUMN("latency_ns"),
                                                      NUMBER_COLUMN("client_tid"),
                                                      NUMBER_COLUMN("server_tid"),
                                                      COUNT_COLUMN("calls"),
                                                      COUNT_COLUMN("steps"),
                                                      SIGNED_COLUMN("result")};
static const struct table_column share_columns[] = {NUMBER_COLUMN("pid"),      TIME_COLUMN("total_ns"),
                                                    REAL_COLUMN("percent", 2), TIME_COLUMN("running_ns"),
                                                    TIME_COLUMN("ready_ns"),   TIME_COLUMN("waiting_ns")};
static const struct table_column path_columns[] = {
    TIME_OF_ONE("after_ns"), TIME_COLUMN("duration_ns"), NUMBER_COLUMN("tid"), NUMBER_COLUMN("cpu"),
    TEXT_COLUMN("for"),      TEXT_COLUMN("call"),        TEXT_COLUMN("doing")};
static const struct table_column work_columns[] = {TEXT_COLUMN("doing"), COUNT_COLUMN("steps"),
                                                   TIME_COLUMN("total_ns"), REAL_COLUMN("percent", 2)};
const struct table ipc_tables[IPC_TABLES] = {
    [BY_PROGRAM] =
        TABLE("program", "who calls whom", "pairs", edge_columns, "total_ns", "calls between programs"),
    [BY_EDGE] =
        TABLE("edge", "call", "edges", edge_columns, "total_ns", "calls between programs, by function"),
    [BY_TIME] = TABLE_EXTRA("time", "where its time goes", "edges", time_columns, "total_ns",
                            "edges, with the parts of their latency"),
    [BY_FUNCTION] = TABLE("function", "function", "functions", time_columns, "total_ns",
                          "where the time of each function went"),
    [BY_SERVER] = TABLE_EXTRA("server", "server", "servers", time_columns, "total_ns",
                              "where the time of calls to each server went"),
    [BY_CLIENT] = TABLE_EXTRA("client", "client", "clients", time_columns, "total_ns",
                              "where the time of each client's calls went"),
    [BY_PROCESS] = TABLE_EXTRA("process", "between processes", "edges", process_columns, "total_ns",
                               "calls between single processes, including incomplete ones"),
    [BY_CHAIN] = TABLE("chain", "chain of calls", "chains", edge_columns, "total_ns",
                       "calls that servers made while they served another call"),
    [BY_DURATION] = HISTOGRAM_TABLE_EXTRA("duration", "duration", "histogram of latencies"),
    [BY_LONGEST] = TABLE("longest", "longest calls", "calls", longest_columns, TABLE_AS_FILLED,
                         "the longest calls, with their IDs"),
    [ABOUT_REQUEST] = TABLE_OF_OPTION("request", "request", "request", "requests", request_columns,
                                      TABLE_AS_FILLED, false, "the call"),
    [SHARE] = TABLE_OF_OPTION("request", "share", "process", "processes", share_columns, "total_ns", false,
                              "whose time it was"),
    [PATH] =
        TABLE_OF_OPTION("request", "path", "thread that worked on it", "steps", path_columns, TABLE_AS_FILLED,
                        true, "the time line of the call; each row begins where the previous one ends"),
    [STEP] = TABLE_OF_OPTION("request", "step", "each step", "steps", path_columns, TABLE_AS_FILLED, true,
                             "the same, with each wait for a CPU as a row of its own"),
    [WORK] = TABLE_OF_OPTION("request", "work", "where its time went", "kinds of work", work_columns,
                             "total_ns", false, "the steps of the call, summed up"),
};
enum { TOTAL_CALLS, TOTAL_ERRORS, TOTAL_CUT };
static const struct table_column total_columns[] = {
    COUNT_COLUMN("calls"), COUNT_COLUMN("errors"),
    COLUMN_CALLED("incomplete", "cut", COLUMN_COUNT, SUM_ADDED, 0)};
const struct table ipc_totals = TABLE("total", "all", "", total_columns, TABLE_AS_FILLED);

/* Adds EDGE to the sum of ROW. */
static void add_edge(struct table *table, struct table_row *row, const struct ipc_edge *edge)
{
    struct ipc_edge *sum = table_sum(table, row, sizeof(*sum));

    sum->errors += edge->errors;
    sum->cut += edge->cut;
    for (unsigned i = 0; i < IPC_PARTS; i++)
        sum->parts[i] += edge->parts[i];
    distribution_merge(&sum->latency, &table->arena, &edge->latency);
}

static void fill_latency(const struct ipc *ipc, struct table_row *row)
{
    const struct ipc_edge *sum = row->sum;

    row->cells[0].count = sum->errors;
    distribution_fill(&sum->latency, &ipc->analysis.trace->schema, &row->cells[1]);
}

static void fill_sums(const struct analysis *analysis, struct table_row *row, const struct ipc_edge *sum)
{
    struct analysis_accumulator accumulator = {.analysis = analysis};

    cells_put(row->cells, {.count = sum->errors}, {.count = sum->latency.count});
    for (unsigned i = 0; i < IPC_PARTS; i++)
        row->cells[4 + i].count = analysis_add(&accumulator, sum->parts[i]);
    cells_put(&row->cells[2], {.count = analysis_ns(analysis, accumulator.ticks)},
              {.count = sum->latency.count ? analysis_ns(analysis, accumulator.ticks / sum->latency.count)
                                           : TABLE_NONE});
}

/* Edges that get the same name in a table are merged into one row. */
static void name_row(const struct ipc *ipc, int by, const struct map_entry *entry, char *text, size_t size)
{
    char function[FUNCTION_NAME_BYTES];

    if (entry == ipc->edges.others) {
        snprintf(text, size, "(others)");
        return;
    }
    if (by == BY_SERVER || by == BY_PROCESS || by == BY_PROGRAM)
        functions_server(&ipc->functions, entry->key[1], function);
    else
        functions_name(&ipc->functions, entry->key[1], entry->key[2], function);
    if (by == BY_CLIENT)
        snprintf(text, size, "%s", ipc_client_name(ipc, entry));
    else if (by == BY_SERVER || by == BY_FUNCTION)
        snprintf(text, size, "%s", function);
    else
        snprintf(text, size, "%s -> %s", ipc_client_name(ipc, entry), function);
}

static struct table_row *row_of(struct ipc *ipc, int by, const struct map_entry *entry)
{
    struct table *table = &ipc->analysis.tables[by];
    uint32_t server = functions_pid(&ipc->functions, entry->key[1]);
    struct table_row *row;
    char name[256];

    name_row(ipc, by, entry, name, sizeof(name));
    row = table_row(table, by == BY_PROCESS ? entry->key[0] << 32 | server : 0, name);
    if (by == BY_PROCESS)
        cells_put(row_cell(table, row, "client_pid"), {.count = entry->key[0]},
                  {.count = server == MODEL_NOBODY ? (uint64_t)TABLE_NONE : server});
    return row;
}

static void fill_edges(struct ipc *ipc, int by)
{
    struct table *table = &ipc->analysis.tables[by];

    for (size_t i = 0; i < map_total(&ipc->edges) && table->is_wanted; i++) {
        const struct map_entry *entry = map_entry(&ipc->edges, i);

        if (ipc_edge_in(entry)->latency.count != 0 || by == BY_PROCESS)
            add_edge(table, row_of(ipc, by, entry), ipc_edge_in(entry));
    }
    for (size_t i = 0; i < table->count; i++) {
        struct table_row *row = table->rows[i];
        const struct ipc_edge *sum = row->sum;

        if (by == BY_EDGE || by == BY_PROGRAM)
            fill_latency(ipc, row);
        else
            fill_sums(&ipc->analysis, row, sum);
        if (by == BY_PROCESS)
            row_set(table, row, "cut", sum->cut);
    }
}

/* "sh -> proc spawn -> fs executable" */
static void name_chain(const struct ipc *ipc, const struct map_entry *entry, char *text, size_t size)
{
    const struct map_entry *links[16];
    char function[FUNCTION_NAME_BYTES];
    unsigned depth = 0;
    size_t used;

    while (depth < 16) {
        links[depth++] = entry;
        if (entry->key[0] & NODE_ROOT)
            break;
        entry = ipc->nodes.entries[entry->key[0] - 1];
    }
    used = (size_t)snprintf(
        text, size, "%s",
        entry->key[0] & NODE_ROOT ? analysis_process_name(&ipc->analysis, (uint32_t)entry->key[0]) : "...");
    while (depth-- > 0 && used < size)
        used += (size_t)snprintf(
            text + used, size - used, " -> %s",
            functions_name(&ipc->functions, links[depth]->key[1], links[depth]->key[2], function));
}

static void fill_chains(struct ipc *ipc)
{
    struct table *table = &ipc->analysis.tables[BY_CHAIN];
    char name[600];

    for (size_t i = 0; i < ipc->nodes.count && table->is_wanted; i++) {
        const struct ipc_node *node = ipc_node_in(ipc->nodes.entries[i]);

        if (node->depth < 2 || node->latency.count == 0)
            continue;
        name_chain(ipc, ipc->nodes.entries[i], name, sizeof(name));
        add_edge(table, table_row(table, 0, name),
                 &(struct ipc_edge){.errors = node->errors, .latency = node->latency});
    }
    for (size_t i = 0; i < table->count; i++)
        fill_latency(ipc, table->rows[i]);
}

static struct table_row *add_longest(struct analysis *analysis, struct table *table,
                                     const struct longest *item)
{
    char name[FUNCTION_NAME_BYTES];
    struct table_row *row = table_add(
        table, functions_name(&((struct ipc *)analysis)->functions, item->what, item->args[1], name));

    cells_put(row_cell(table, row, "id"), {.count = item->args[0]}, {.number = item->result});
    return row;
}

static void fill_total(struct ipc *ipc)
{
    union table_cell *cells = ipc->analysis.total->cells;

    for (size_t i = 0; i < map_total(&ipc->edges); i++) {
        const struct ipc_edge *edge = ipc_edge_in(map_entry(&ipc->edges, i));

        cells[TOTAL_CALLS].count += edge->latency.count;
        cells[TOTAL_ERRORS].count += edge->errors;
        cells[TOTAL_CUT].count += edge->cut;
    }
    map_histogram(&ipc->analysis, &ipc->analysis.tables[BY_DURATION], &ipc->edges,
                  offsetof(struct ipc_edge, latency));
}

void ipc_fill_tables(struct ipc *ipc)
{
    for (int by = BY_PROGRAM; by <= BY_PROCESS; by++)
        fill_edges(ipc, by);
    fill_chains(ipc);
    fill_total(ipc);
    longest_rows(&ipc->analysis, &ipc->analysis.tables[BY_LONGEST], &ipc->longest, add_longest);
}
