/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/answer/ipc.c - `tarn ipc`: who calls whom, how long it takes, and where that time goes.
 *
 * A call is counted with its client's process, its server and its label. While it is under way, what its
 * server does with the time is kept in a record of its client's (which has at most one); when it has returned
 * the record goes into the sums, so parts add up to latencies. Calls that a server makes on behalf of one it
 * works on are nodes of a tree: the chains. One call can be followed (ipc_path.c).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/answer/ipc.h>
#include <tools/tarn/answer/kinds.h>
#include <tools/tarn/answer/spans.h>

/* What happens between call and return. */
enum part {
    PART_TO_SERVER, /* no server has taken it */
    PART_RUNNING,   /* its server runs */
    PART_CALLS,     /* ... is inside a call of its own */
    PART_READY,     /* ... waits for a processor */
    PART_LOCKS,     /* ... for a futex */
    PART_FAULTS,    /* ... for a pager or fault handler */
    PART_WAITS,     /* ... for something else, or it is not known what it did */
    PART_DEFERRED,  /* its server took it and works on something else */
    PART_BACK,      /* answered, client does not run yet */
    PARTS
};

struct edge {
    uint64_t errors, cut; /* cut: its begin or end was not seen */
    uint64_t parts[PARTS];
    struct distribution latency;
};

/* Of a client's call. */
struct flight {
    uint64_t id;
    uint64_t parts[PARTS];
    uint64_t node; /* of its chain; 0: not known yet */
};

/* A function called from the function of another node; or from a process that serves nobody: NODE_ROOT. */
struct node {
    uint64_t number; /* from 1 */
    uint64_t depth;
    uint64_t errors;
    struct distribution latency;
};
#define NODE_ROOT (1ull << 63) /* | pid */

enum {
    BY_EDGE,
    BY_TIME,
    BY_FUNCTION,
    BY_SERVER,
    BY_CLIENT,
    BY_PROCESS,
    BY_CHAIN,
    BY_DURATION,
    BY_LONGEST,
    ABOUT_REQUEST,
    PATH,
    WORK,
    TABLES
};

struct ipc {
    struct answer answer;
    struct functions functions;
    struct map edges; /* struct edge by client's pid, whom, label */
    struct map nodes; /* struct node by parent's number or NODE_ROOT, whom, label */
    struct slots flights;
    struct longest_list longest;                      /* args: id, label; what: whom */
    const char *client, *server, *function, *request; /* options */
    uint64_t request_id;                              /* 0: the rank of the longest */
    unsigned request_rank;
    bool wants_dot;
    char *dot; /* what --dot asked for; NULL: nothing */
    struct ipc_request found;
};

/* clang-format off */
#define PART_COLUMNS                                                                                    \
    TIME_COLUMN("to server", "to_server_ns"), TIME_COLUMN("running", "running_ns"),                     \
    TIME_COLUMN("its calls", "calls_ns"), TIME_COLUMN("ready", "ready_ns"),                             \
    TIME_COLUMN("locks", "locks_ns"), TIME_COLUMN("faults", "faults_ns"),                               \
    TIME_COLUMN("waits", "waits_ns"), TIME_COLUMN("deferred", "deferred_ns"),                           \
    TIME_COLUMN("back", "back_ns")
#define LATENCY_COLUMNS COUNT_COLUMN("errors", "errors"), DISTRIBUTION_COLUMNS("calls", "calls")
#define SUM_COLUMNS                                                                                     \
    COUNT_COLUMN("errors", "errors"), COUNT_COLUMN("calls", "calls"), TIME_COLUMN("total", "total_ns"), \
    TIME_OF_ONE("mean", "mean_ns"), PART_COLUMNS
/* clang-format on */
enum { LATENCY_ERRORS, LATENCY_CALLS, LATENCY_TOTAL };
static const struct table_column edge_columns[] = {LATENCY_COLUMNS};
enum { TIME_ERRORS, TIME_CALLS, TIME_TOTAL, TIME_MEAN, TIME_PARTS };
static const struct table_column time_columns[] = {SUM_COLUMNS};
enum { PROCESS_CLIENT = TIME_PARTS + PARTS, PROCESS_SERVER, PROCESS_CUT };
static const struct table_column process_columns[] = {SUM_COLUMNS, NUMBER_COLUMN("client", "client_pid"),
                                                      NUMBER_COLUMN("server", "server_pid"),
                                                      COUNT_COLUMN("cut", "cut")};
enum { LONG_ID = LONGEST_COLUMN_COUNT, LONG_RESULT };
static const struct table_column longest_columns[] = {LONGEST_COLUMNS, HEX_COLUMN("id", "id"),
                                                      SIGNED_COLUMN("result", "result")};
static const struct table tables[TABLES] = {
    [BY_EDGE] = TABLE("edge", "call", "edges", edge_columns, LATENCY_TOTAL),
    [BY_TIME] = TABLE("time", "where its time goes", "edges", time_columns, TIME_TOTAL),
    [BY_FUNCTION] = TABLE("function", "function", "functions", time_columns, TIME_TOTAL),
    [BY_SERVER] = TABLE_EXTRA("server", "server", "servers", time_columns, TIME_TOTAL),
    [BY_CLIENT] = TABLE_EXTRA("client", "client", "clients", time_columns, TIME_TOTAL),
    [BY_PROCESS] = TABLE_EXTRA("process", "between processes", "edges", process_columns, TIME_TOTAL),
    [BY_CHAIN] = TABLE("chain", "calls for calls", "chains", edge_columns, LATENCY_TOTAL),
    [BY_DURATION] = HISTOGRAM_TABLE_EXTRA("duration", "duration"),
    [BY_LONGEST] = TABLE_EXTRA("longest", "longest calls", "calls", longest_columns, TABLE_AS_FILLED),
    [ABOUT_REQUEST] = TABLE_EXTRA("request", "request", "requests", ipc_request_columns, TABLE_AS_FILLED),
    [PATH] = TABLE_AS("path", "who worked on it", "steps", ipc_path_columns, TABLE_AS_FILLED, true, true),
    [WORK] = TABLE_EXTRA("work", "where its time went", "kinds of work", ipc_work_columns, IPC_WORK_TOTAL),
};
enum { TOTAL_CALLS, TOTAL_ERRORS, TOTAL_CUT };
static const struct table_column total_columns[] = {
    COUNT_COLUMN("calls", "calls"), COUNT_COLUMN("errors", "errors"), COUNT_COLUMN("not seen whole", "cut")};
static const struct table totals = TABLE("total", "all", "", total_columns, TABLE_AS_FILLED);

static const struct answer_option options[] = {
    {"client", true, " PATTERN    only calls of these programs"},
    {"server", true, " PATTERN    only calls to these servers"},
    {"function", true, " PATTERN  only calls of these functions: read, or fs read"},
    {"request", true, " WHICH     follow one call: its id, longest, or longest:N"},
    {"dot", false, "                 the graph of who calls whom, in Graphviz's language, instead of tables"},
    {NULL, false, NULL}};

static bool set_request(struct ipc *ipc, const char *value, struct fail *fail)
{
    char *end;

    ipc->request = value;
    if (strncmp(value, "longest", 7) == 0) {
        unsigned long rank = value[7] == ':' ? strtoul(value + 8, &end, 10) : 1;

        if (value[7] == '\0' || (value[7] == ':' && *end == '\0' && rank >= 1 && rank <= LONGEST_KEPT)) {
            ipc->request_rank = (unsigned)rank - 1;
            return true;
        }
    } else {
        ipc->request_id = strtoull(value, &end, 0);
        if (*value >= '0' && *value <= '9' && *end == '\0' && ipc->request_id != 0)
            return true;
    }
    return fail_set(fail, "--request %.40s: a call's id, longest, or longest:N with N up to %u", value,
                    LONGEST_KEPT);
}

static bool set_option(struct answer *answer, const char *option, const char *value, struct fail *fail)
{
    struct ipc *ipc = (struct ipc *)answer;

    if (strcmp(option, "request") == 0)
        return set_request(ipc, value, fail);
    if (strcmp(option, "dot") == 0)
        return ipc->wants_dot = true;
    *(strcmp(option, "client") == 0   ? &ipc->client
      : strcmp(option, "server") == 0 ? &ipc->server
                                      : &ipc->function) = value;
    return true;
}

/* ---- the walk ---- */

static enum part part_of(const struct model_thread *server)
{
    if (server->calling != NULL)
        return PART_CALLS;
    switch (server->state) {
    case MODEL_RUNNING:
        return PART_RUNNING;
    case MODEL_READY:
        return PART_READY;
    case MODEL_BLOCKED_FUTEX:
        return PART_LOCKS;
    case MODEL_BLOCKED_FAULT:
        return PART_FAULTS;
    default:
        return PART_WAITS;
    }
}

static void take_segment(struct model_observer *self, const struct model_thread *thread, uint64_t from,
                         uint64_t to)
{
    struct ipc *ipc = ANSWER_OF(self, struct ipc);
    struct flight *flight;

    if (thread->serving == NULL)
        return;
    flight = slots_at(&ipc->flights, thread->serving->client->number);
    if (flight->id == thread->serving->id)
        flight->parts[part_of(thread)] += to - from;
}

/* The number of the call's chain. */
static struct node *node_of(struct ipc *ipc, const struct model_call *call)
{
    const struct model_call *outer = call->outer;
    const struct flight *around =
        outer != NULL && outer->id == call->outer_id ? slots_at(&ipc->flights, outer->client->number) : NULL;
    uint64_t parent = NODE_ROOT | call->client->pid, depth = 1;
    struct node *node;

    if (around != NULL && around->id == call->outer_id && around->node != 0 &&
        around->node <= ipc->nodes.count) {
        parent = around->node;
        depth += ((const struct node *)(const void *)ipc->nodes.entries[parent - 1]->value)->depth;
    }
    node = map_at(&ipc->nodes, parent, functions_whom(call), call->label);
    if (node->number == 0 && ipc->nodes.others == NULL) {
        node->number = ipc->nodes.count;
        node->depth = depth;
    }
    return node;
}

static bool is_wanted(struct ipc *ipc, const struct model_call *call)
{
    struct answer *answer = &ipc->answer;
    char text[FUNCTION_NAME_BYTES], *blank;

    if (!answer_wants(answer, call->client) && (call->server == NULL || !answer_wants(answer, call->server)))
        return false;
    if (ipc->client != NULL && !match_glob(ipc->client, answer_process_name(answer, call->client->pid)))
        return false;
    if (ipc->server != NULL &&
        !match_glob(ipc->server, functions_server(&ipc->functions, functions_whom(call), text)))
        return false;
    if (ipc->function == NULL)
        return true;
    functions_name(&ipc->functions, functions_whom(call), call->label, text);
    blank = strrchr(text, ' ');
    return match_glob(ipc->function, text) || (blank != NULL && match_glob(ipc->function, blank + 1));
}

static uint64_t span(uint64_t from, uint64_t to)
{
    return from != 0 && to > from ? to - from : 0;
}

/* What lies before and after the server's work; and what is left of the time, nobody knows. */
static void complete_parts(const struct model_call *call, uint64_t parts[PARTS])
{
    uint64_t end = call->returned, known = 0;

    parts[PART_TO_SERVER] = span(call->called, call->received != 0 ? call->received : end);
    if (call->received != 0)
        parts[PART_DEFERRED] = span(call->parked, call->replied != 0 ? call->replied : end);
    parts[PART_BACK] = span(call->replied, end);
    for (unsigned i = 0; i < PARTS; i++)
        known += parts[i];
    parts[PART_WAITS] += end - call->called > known ? end - call->called - known : 0;
}

static void keep_request(struct ipc *ipc, const struct model_call *call)
{
    uint64_t latency = call->returned - call->called, whom = functions_whom(call);
    int64_t result = ipc_result(call);

    if (ipc->request_id == call->id)
        ipc->found = (struct ipc_request){call->id,       call->label,          whom,  call->called,
                                          call->returned, call->client->number, result};
    longest_add(&ipc->longest, &(struct longest){.ticks = latency,
                                                 .begin = call->called,
                                                 .thread = call->client,
                                                 .what = whom,
                                                 .args = {call->id, call->label},
                                                 .result = result});
}

static struct edge *edge_of(struct ipc *ipc, const struct model_call *call)
{
    return map_at(&ipc->edges, call->client->pid, functions_whom(call), call->label);
}

static void end_call(struct ipc *ipc, const struct model_call *call)
{
    struct flight *flight = slots_at(&ipc->flights, call->client->number);
    struct edge *edge;
    struct node *node;
    uint64_t latency;
    bool is_error;

    if (!is_wanted(ipc, call))
        return;
    edge = edge_of(ipc, call);
    if (flight->id != call->id || call->returned == 0 || call->called < ipc->answer.from) {
        edge->cut++;
        return;
    }
    complete_parts(call, flight->parts);
    for (unsigned i = 0; i < PARTS; i++)
        edge->parts[i] += flight->parts[i];
    latency = call->returned - call->called;
    is_error = ipc_result(call) < 0;
    edge->errors += is_error;
    distribution_add(&edge->latency, &ipc->edges.arena, latency);
    node = flight->node != 0 && flight->node <= ipc->nodes.count
               ? (struct node *)(void *)ipc->nodes.entries[flight->node - 1]->value
               : node_of(ipc, call);
    node->errors += is_error;
    distribution_add(&node->latency, &ipc->nodes.arena, latency);
    keep_request(ipc, call);
}

static void take_call(struct model_observer *self, const struct model_call *call, uint64_t ticks,
                      bool has_ended)
{
    struct ipc *ipc = ANSWER_OF(self, struct ipc);
    struct flight *flight = slots_at(&ipc->flights, call->client->number);

    if (call->called == ticks && call->received == 0 && !has_ended)
        *flight = (struct flight){.id = call->id};
    if (call->received == ticks && call->replied == 0 && call->parked == 0 && !has_ended) {
        functions_learn(&ipc->functions, call);
        if (flight->id == call->id && flight->node == 0)
            flight->node = node_of(ipc, call)->number;
    }
    if (has_ended)
        end_call(ipc, call);
}

static bool open_ipc(struct answer *answer, struct fail *fail)
{
    struct ipc *ipc = (struct ipc *)answer;
    struct table *own = answer->tables;

    (void)fail;
    functions_open(&ipc->functions, answer);
    map_open(&ipc->edges, sizeof(struct edge));
    map_open(&ipc->nodes, sizeof(struct node));
    ipc->edges.limit = ipc->nodes.limit = MAP_DISTRIBUTIONS_MAX;
    slots_open(&ipc->flights, sizeof(struct flight));
    answer->observer.segment = take_segment;
    answer->observer.call = take_call;
    /* who follows one request is shown that, unless he chose something else */
    if (ipc->request != NULL && !own[PATH].is_wanted && !own[ABOUT_REQUEST].is_wanted && !own[WORK].is_wanted)
        for (unsigned i = 0; i < TABLES; i++)
            own[i].is_wanted = i >= ABOUT_REQUEST;
    return true;
}

static void close_ipc(struct answer *answer)
{
    struct ipc *ipc = (struct ipc *)answer;

    functions_close(&ipc->functions);
    map_close(&ipc->edges);
    map_close(&ipc->nodes);
    slots_close(&ipc->flights);
    free(ipc->dot);
}

/* ---- tables ---- */

static const struct edge *edge_in(const struct map_entry *entry)
{
    return (const struct edge *)(const void *)entry->value;
}

static void add_edge(struct edge *sum, struct arena *arena, const struct edge *edge)
{
    sum->errors += edge->errors;
    sum->cut += edge->cut;
    for (unsigned i = 0; i < PARTS; i++)
        sum->parts[i] += edge->parts[i];
    distribution_merge(&sum->latency, arena, &edge->latency);
}

static void fill_sums(const struct answer *answer, struct table_row *row, const struct edge *sum)
{
    struct answer_adder adder = {.answer = answer};

    row->cells[TIME_ERRORS].count = sum->errors;
    row->cells[TIME_CALLS].count = sum->latency.count;
    for (unsigned i = 0; i < PARTS; i++)
        row->cells[TIME_PARTS + i].count = answer_add(&adder, sum->parts[i]);
    row->cells[TIME_TOTAL].count = answer_ns(answer, adder.ticks);
    row->cells[TIME_MEAN].count =
        sum->latency.count ? answer_ns(answer, adder.ticks / sum->latency.count) : TABLE_NONE;
}

static const char *client_name(const struct ipc *ipc, const struct map_entry *entry)
{
    return answer_process_name(&ipc->answer, (uint32_t)entry->key[0]);
}

/* Rows of edges that a table does not tell apart are one. */
static void name_row(const struct ipc *ipc, int by, const struct map_entry *entry, char *text, size_t size)
{
    char function[FUNCTION_NAME_BYTES];

    if (entry == ipc->edges.others) {
        snprintf(text, size, "(others)");
        return;
    }
    if (by == BY_SERVER || by == BY_PROCESS)
        functions_server(&ipc->functions, entry->key[1], function);
    else
        functions_name(&ipc->functions, entry->key[1], entry->key[2], function);
    if (by == BY_CLIENT)
        snprintf(text, size, "%s", client_name(ipc, entry));
    else if (by == BY_SERVER || by == BY_FUNCTION)
        snprintf(text, size, "%s", function);
    else
        snprintf(text, size, "%s -> %s", client_name(ipc, entry), function);
}

static struct table_row *row_of(struct ipc *ipc, int by, const struct map_entry *entry)
{
    struct table *table = &ipc->answer.tables[by];
    uint32_t server = functions_pid(&ipc->functions, entry->key[1]);
    struct table_row *row;
    char name[256];

    name_row(ipc, by, entry, name, sizeof(name));
    row = table_row(table, by == BY_PROCESS ? entry->key[0] << 32 | server : 0, name);
    if (by == BY_PROCESS) {
        row->cells[PROCESS_CLIENT].count = entry->key[0];
        row->cells[PROCESS_SERVER].count = server == MODEL_NOBODY ? (uint64_t)TABLE_NONE : server;
    }
    return row;
}

static void fill_edges(struct ipc *ipc, int by)
{
    const struct answer *answer = &ipc->answer;
    struct map rows; /* struct edge by row */

    map_open(&rows, sizeof(struct edge));
    for (size_t i = 0; i < map_total(&ipc->edges) && answer->tables[by].is_wanted; i++) {
        const struct map_entry *entry = map_entry(&ipc->edges, i);

        if (edge_in(entry)->latency.count != 0 || by == BY_PROCESS)
            add_edge(map_at(&rows, (uintptr_t)row_of(ipc, by, entry), 0, 0), &rows.arena, edge_in(entry));
    }
    for (size_t i = 0; i < rows.count; i++) {
        struct table_row *row = (struct table_row *)(uintptr_t)rows.entries[i]->key[0];
        const struct edge *sum = edge_in(rows.entries[i]);

        if (by == BY_EDGE) {
            row->cells[LATENCY_ERRORS].count = sum->errors;
            distribution_fill(&sum->latency, &answer->trace->schema, &row->cells[LATENCY_CALLS]);
        } else {
            fill_sums(answer, row, sum);
        }
        if (by == BY_PROCESS)
            row->cells[PROCESS_CUT].count = sum->cut;
    }
    map_close(&rows);
}

static const struct node *node_in(const struct map_entry *entry)
{
    return (const struct node *)(const void *)entry->value;
}

/* "sh -> proc spawn -> fs image" */
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
        entry->key[0] & NODE_ROOT ? answer_process_name(&ipc->answer, (uint32_t)entry->key[0]) : "...");
    while (depth-- > 0 && used < size)
        used += (size_t)snprintf(
            text + used, size - used, " -> %s",
            functions_name(&ipc->functions, links[depth]->key[1], links[depth]->key[2], function));
}

static void fill_chains(struct ipc *ipc)
{
    struct table *table = &ipc->answer.tables[BY_CHAIN];
    struct map rows; /* struct edge by row */
    char name[600];

    map_open(&rows, sizeof(struct edge));
    for (size_t i = 0; i < ipc->nodes.count && table->is_wanted; i++) {
        const struct node *node = node_in(ipc->nodes.entries[i]);

        if (node->depth < 2 || node->latency.count == 0)
            continue;
        name_chain(ipc, ipc->nodes.entries[i], name, sizeof(name));
        add_edge(map_at(&rows, (uintptr_t)table_row(table, 0, name), 0, 0), &rows.arena,
                 &(struct edge){.errors = node->errors, .latency = node->latency});
    }
    for (size_t i = 0; i < rows.count; i++) {
        struct table_row *row = (struct table_row *)(uintptr_t)rows.entries[i]->key[0];
        const struct edge *sum = edge_in(rows.entries[i]);

        row->cells[LATENCY_ERRORS].count = sum->errors;
        distribution_fill(&sum->latency, &ipc->answer.trace->schema, &row->cells[LATENCY_CALLS]);
    }
    map_close(&rows);
}

static void fill_longest(struct ipc *ipc)
{
    struct table *table = &ipc->answer.tables[BY_LONGEST];
    char name[FUNCTION_NAME_BYTES];

    for (unsigned i = 0; i < ipc->longest.count; i++) {
        const struct longest *item = &ipc->longest.items[i];
        struct table_row *row =
            table_add(table, functions_name(&ipc->functions, item->what, item->args[1], name));

        longest_fill(&ipc->answer, table, row, item);
        row->cells[LONG_ID].count = item->args[0];
        row->cells[LONG_RESULT].number = item->result;
    }
}

static void fill_total(struct ipc *ipc)
{
    struct distribution all = {0};
    union table_cell *cells = ipc->answer.total->cells;
    struct arena arena = {NULL};

    for (size_t i = 0; i < map_total(&ipc->edges); i++) {
        const struct edge *edge = edge_in(map_entry(&ipc->edges, i));

        cells[TOTAL_CALLS].count += edge->latency.count;
        cells[TOTAL_ERRORS].count += edge->errors;
        cells[TOTAL_CUT].count += edge->cut;
        distribution_merge(&all, &arena, &edge->latency);
    }
    distribution_histogram(&all, &ipc->answer.trace->schema, &ipc->answer.tables[BY_DURATION]);
    arena_free(&arena);
}

static bool find_request(struct ipc *ipc)
{
    const struct longest *item = &ipc->longest.items[ipc->request_rank];

    if (ipc->request_id != 0)
        return ipc->found.id != 0;
    if (ipc->request_rank >= ipc->longest.count)
        return false;
    ipc->found = (struct ipc_request){
        item->args[0],        item->args[1], item->what, item->begin, item->begin + item->ticks,
        item->thread->number, item->result};
    return true;
}

static void follow_request(struct ipc *ipc)
{
    struct table *own = ipc->answer.tables;

    if (!find_request(ipc)) {
        table_add(&own[ABOUT_REQUEST], "(no such call was seen whole)");
        return;
    }
    ipc_follow(&ipc->answer, &ipc->found, &ipc->functions, &own[ABOUT_REQUEST], &own[PATH], &own[WORK]);
}

/* ---- the graph ---- */

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

/* Wider, the more of all clients' time is spent there. */
static void put_edge(const struct ipc *ipc, FILE *to, const struct table_row *row, uint64_t all)
{
    uint64_t calls = row->cells[TIME_CALLS].count, ticks = row->cells[TIME_TOTAL].count;
    double ms = (double)answer_ns(&ipc->answer, ticks) * 1e-6;

    fprintf(to, "  %s [label=\"%" PRIu64 " calls\\n%.3f ms\\nmean %.1f us\", penwidth=%.2f];\n", row->name,
            calls, ms, ms * 1e3 / (double)calls, 1 + 6 * (double)ticks / (double)(all ? all : 1));
}

static void draw_graph(struct ipc *ipc)
{
    struct table graph = {.columns = time_columns, .column_count = TIME_PARTS};
    char server[FUNCTION_NAME_BYTES], *name;
    uint64_t all = 0;
    size_t size;
    FILE *to;

    for (size_t i = 0; i < ipc->edges.count; i++) {
        const struct map_entry *entry = ipc->edges.entries[i];
        struct table_row *row;

        if (edge_in(entry)->latency.count == 0)
            continue;
        to = open_memstream(&name, &size);
        put_quoted(to, client_name(ipc, entry));
        fputs(" -> ", to);
        put_quoted(to, functions_server(&ipc->functions, entry->key[1], server));
        fclose(to);
        row = table_row(&graph, 0, name);
        row->cells[TIME_CALLS].count += edge_in(entry)->latency.count;
        row->cells[TIME_TOTAL].count += edge_in(entry)->latency.total;
        all += edge_in(entry)->latency.total;
        free(name);
    }
    table_sort(&graph, TIME_TOTAL);
    to = open_memstream(&ipc->dot, &size);
    fputs("digraph ipc {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n", to);
    for (size_t i = 0; i < graph.count; i++)
        put_edge(ipc, to, graph.rows[i], all);
    fputs("}\n", to);
    fclose(to);
    table_free(&graph);
}

static bool print_graph(struct answer *answer, FILE *to, bool *is_all, struct fail *fail)
{
    const struct ipc *ipc = (const struct ipc *)answer;

    (void)fail;
    if (ipc->dot != NULL)
        fputs(ipc->dot, to);
    *is_all = ipc->dot != NULL;
    return true;
}

/* Those that are under way at the end. */
static void cut_calls(struct ipc *ipc)
{
    const struct model *model = ipc->answer.model;

    for (uint32_t n = 0; n < model->thread_count; n++) {
        const struct model_call *call = model->threads[n] != NULL ? model->threads[n]->calling : NULL;

        if (call != NULL && is_wanted(ipc, call))
            edge_of(ipc, call)->cut++;
    }
}

static void finish_ipc(struct answer *answer)
{
    struct ipc *ipc = (struct ipc *)answer;

    cut_calls(ipc);
    for (int by = BY_EDGE; by <= BY_PROCESS; by++)
        fill_edges(ipc, by);
    fill_chains(ipc);
    fill_total(ipc);
    longest_sort(&ipc->longest);
    fill_longest(ipc);
    if (ipc->request != NULL)
        follow_request(ipc);
    if (ipc->wants_dot)
        draw_graph(ipc);
}

const struct answer_kind ipc_answer = {
    .name = "ipc",
    .summary = "calls between processes: who, how long, where the time goes; one call's critical path",
    .help =
        "Calls from process to process that were seen whole, by client program and server function: latency\n"
        "from call to return, and what it went to: until a server took it (to server); the server running,\n"
        "waiting for calls of its own, for a processor (ready), locks, fault handlers, other things; "
        "working\n"
        "on something else before it answered (deferred); and until the client went on (back). These add "
        "up.\n"
        "Chains are calls that servers make while they serve one. An error is an error of the kernel or a\n"
        "negative answer. --request follows one call through all processes: who worked on it when.\n",
    .options = options,
    .tables = tables,
    .table_count = TABLES,
    .totals = &totals,
    .size = sizeof(struct ipc),
    .set = set_option,
    .open = open_ipc,
    .finish = finish_ipc,
    .print = print_graph,
    .close = close_ipc,
};
