/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ipc.c - `tarn ipc`: who calls whom, how long it takes, and where that time goes.
 *
 * Calls are counted by the client's process, the server and the label. While a call is in progress, its
 * server's time is added up in a record of the client, which has at most one call. When the call returns,
 * the record is added to the sums, so the parts add up to the latencies. Nested calls, which a server makes
 * for the call that it works on, are nodes of a tree: the chains. One call can be followed (ipc_path.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/analysis/ipc.h>

/* A client's call in progress. */
struct flight {
    uint64_t id;
    uint64_t parts[IPC_PARTS];
    uint64_t node; /* of its chain; 0: unknown */
};

static bool set_request(void *context, const struct command_option *option, const char *value,
                        struct fail *fail)
{
    struct ipc *ipc = context;
    char *end;

    ipc->request = value;
    if (strncmp(value, "at:", 3) == 0) {
        ipc->request_by = REQUEST_AT; /* open_ipc converts the time, because it needs the trace */
        return true;
    }
    if (strncmp(value, "longest", 7) == 0) {
        unsigned long rank = value[7] == ':' ? strtoul(value + 8, &end, 10) : 1;

        ipc->request_by = REQUEST_LONGEST;
        ipc->request_rank = (unsigned)rank - 1;
        if (value[7] == '\0' || (value[7] == ':' && *end == '\0' && rank >= 1 && rank <= LONGEST_KEPT))
            return true;
    } else {
        ipc->request_by = REQUEST_ID;
        ipc->request_id = strtoull(value, &end, 0);
        if (*value >= '0' && *value <= '9' && *end == '\0' && ipc->request_id != 0)
            return true;
    }
    return fail_set(fail, "expected a call's ID, longest, longest:N with N up to %u, or at:TIME",
                    LONGEST_KEPT);
}

static const struct command_option options[] = {
    {TEXT("client", "PATTERN", struct ipc, client, "only calls of these programs")},
    {TEXT("server", "PATTERN", struct ipc, server, "only calls to these servers")},
    {TEXT("function", "PATTERN", struct ipc, function, "only calls of these functions: read, or fs read")},
    {CALL("request", "WHICH", set_request,
          "follow one of the selected calls through all threads that it waited for: its ID (see --by "
          "longest), longest, longest:N, or at:TIME, the first that begins then\nTIME is as for --from. The "
          "time line, `path`, is what the later receiver did until it received the call, then what it did "
          "until the reply, including its own calls in the same way, then what delayed the client. "
          "Successive waits of a thread for a CPU are one row"),
     .place = offsetof(struct ipc, request), .is_extra = true},
    {FLAG("dot", struct ipc, wants_dot,
          "instead of tables, the graph of calls between programs in Graphviz's language\nThe width of an "
          "edge shows the time that clients spent there"),
     .is_extra = true},
    {.name = NULL}};

/* ---- the walk ---- */

static enum ipc_part part_of(const struct model_thread *server)
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

static void on_segment(struct model_observer *self, const struct model_thread *thread, uint64_t from,
                       uint64_t to)
{
    struct ipc *ipc = ANALYSIS_OF(self, struct ipc);
    struct flight *flight;

    if (thread->serving == NULL)
        return;
    flight = slots_at(&ipc->flights, thread->serving->client->number);
    if (flight->id == thread->serving->id)
        flight->parts[part_of(thread)] += model_segment_ticks(thread, from, to);
}

static struct ipc_node *node_of(struct ipc *ipc, const struct model_call *call)
{
    const struct model_call *outer = call->outer;
    const struct flight *around =
        outer != NULL && outer->id == call->outer_id ? slots_at(&ipc->flights, outer->client->number) : NULL;
    uint64_t parent = NODE_ROOT | call->client->pid, depth = 1;
    struct ipc_node *node;

    if (around != NULL && around->id == call->outer_id && around->node != 0 &&
        around->node <= ipc->nodes.count) {
        parent = around->node;
        depth += ((const struct ipc_node *)(const void *)ipc->nodes.entries[parent - 1]->value)->depth;
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
    struct analysis *analysis = &ipc->analysis;
    char text[FUNCTION_NAME_BYTES], *blank;

    if (!analysis_wants(analysis, call->client) &&
        (call->server == NULL || !analysis_wants(analysis, call->server)))
        return false;
    if (ipc->client != NULL && !match_glob(ipc->client, analysis_process_name(analysis, call->client->pid)))
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

/* Adds the parts before and after the server's work; the rest of the time is unknown. */
static void complete_parts(const struct model_call *call, uint64_t parts[IPC_PARTS])
{
    uint64_t end = call->returned, known = 0;

    parts[PART_TO_SERVER] = span(call->called, call->received != 0 ? call->received : end);
    if (call->received != 0)
        parts[PART_DEFERRED] = span(call->parked, call->replied != 0 ? call->replied : end);
    parts[PART_BACK] = span(call->replied, end);
    for (unsigned i = 0; i < IPC_PARTS; i++)
        known += parts[i];
    parts[PART_WAITS] += end - call->called > known ? end - call->called - known : 0;
}

static void keep_request(struct ipc *ipc, const struct model_call *call)
{
    uint64_t latency = call->returned - call->called, whom = functions_whom(call);
    int64_t result = ipc_result(call);

    if (ipc->request_by == REQUEST_AT
            ? call->called >= ipc->request_at && (ipc->found.id == 0 || call->called < ipc->found.called)
            : ipc->request_by == REQUEST_ID && call->id == ipc->request_id)
        ipc->found = (struct ipc_request){call->id,       call->label,          whom,  call->called,
                                          call->returned, call->client->number, result};
    longest_add(&ipc->longest, &(struct longest){.ticks = latency,
                                                 .begin = call->called,
                                                 .thread = call->client,
                                                 .what = whom,
                                                 .args = {call->id, call->label},
                                                 .result = result});
}

static struct ipc_edge *edge_of(struct ipc *ipc, const struct model_call *call)
{
    return map_at(&ipc->edges, call->client->pid, functions_whom(call), call->label);
}

static void end_call(struct ipc *ipc, const struct model_call *call)
{
    struct flight *flight = slots_at(&ipc->flights, call->client->number);
    struct ipc_edge *edge;
    struct ipc_node *node;
    uint64_t latency;
    bool is_error;

    if (!is_wanted(ipc, call))
        return;
    edge = edge_of(ipc, call);
    if (flight->id != call->id || call->returned == 0 || call->called < ipc->analysis.from) {
        edge->cut++;
        return;
    }
    complete_parts(call, flight->parts);
    for (unsigned i = 0; i < IPC_PARTS; i++)
        edge->parts[i] += flight->parts[i];
    latency = call->returned - call->called;
    is_error = ipc_result(call) < 0;
    edge->errors += is_error;
    distribution_add(&edge->latency, &ipc->edges.arena, latency);
    node = flight->node != 0 && flight->node <= ipc->nodes.count
               ? (struct ipc_node *)(void *)ipc->nodes.entries[flight->node - 1]->value
               : node_of(ipc, call);
    node->errors += is_error;
    distribution_add(&node->latency, &ipc->nodes.arena, latency);
    keep_request(ipc, call);
}

static void on_call(struct model_observer *self, const struct model_call *call, uint64_t ticks,
                    bool has_ended)
{
    struct ipc *ipc = ANALYSIS_OF(self, struct ipc);
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

static bool asks_about_request(const struct table *own)
{
    for (unsigned i = ABOUT_REQUEST; i < IPC_TABLES; i++)
        if (own[i].is_wanted)
            return true;
    return false;
}

static bool open_ipc(struct analysis *analysis, struct fail *fail)
{
    struct ipc *ipc = (struct ipc *)analysis;
    struct table *own = analysis->tables;

    if (ipc->request_by == REQUEST_AT &&
        !filter_time(analysis->trace, ipc->request + 3, &ipc->request_at, fail))
        return false;
    functions_open(&ipc->functions, analysis);
    analysis_map(analysis, &ipc->edges, sizeof(struct ipc_edge));
    analysis_map(analysis, &ipc->nodes, sizeof(struct ipc_node));
    ipc->edges.limit = ipc->nodes.limit = MAP_DISTRIBUTIONS_MAX;
    analysis_slots(analysis, &ipc->flights, sizeof(struct flight));
    analysis->observer.segment = on_segment;
    analysis->observer.call = on_call;
    /* with --request, shows its tables, unless the user selected others */
    if (ipc->request != NULL && !asks_about_request(own))
        for (unsigned i = 0; i < IPC_TABLES; i++)
            own[i].is_wanted = i >= ABOUT_REQUEST && i != STEP;
    return true;
}

static void close_ipc(struct analysis *analysis)
{
    struct ipc *ipc = (struct ipc *)analysis;

    free(ipc->dot);
}

/* ---- the end ---- */

/* Counts the calls in progress at the end. */
static void cut_calls(struct ipc *ipc)
{
    const struct model *model = ipc->analysis.model;

    for (uint32_t n = 0; n < model->thread_count; n++) {
        const struct model_call *call = model->threads[n] != NULL ? model->threads[n]->calling : NULL;

        if (call != NULL && is_wanted(ipc, call))
            edge_of(ipc, call)->cut++;
    }
}

static bool find_request(struct ipc *ipc)
{
    const struct longest *item = &ipc->longest.items[ipc->request_rank];

    if (ipc->request_by != REQUEST_LONGEST)
        return ipc->found.id != 0;
    if (ipc->request_rank >= ipc->longest.count)
        return false;
    ipc->found = (struct ipc_request){
        item->args[0],        item->args[1], item->what, item->begin, item->begin + item->ticks,
        item->thread->number, item->result};
    return true;
}

static void note_no_request(struct ipc *ipc)
{
    char *note = ipc->analysis.note;
    const size_t size = sizeof(ipc->analysis.note);

    if (ipc->request_by == REQUEST_ID)
        snprintf(note, size,
                 "there is no complete call with the ID %.40s; `tarn ipc --by longest` lists some IDs",
                 ipc->request);
    else if (ipc->request_by == REQUEST_AT)
        snprintf(note, size, "no complete call begins at %.40s or later", ipc->request + 3);
    else if (ipc->longest.count == 0)
        snprintf(note, size, "there is no complete call");
    else
        snprintf(note, size, "only %u of these calls %s complete", ipc->longest.count,
                 ipc->longest.count == 1 ? "is" : "are");
}

static void follow_request(struct ipc *ipc)
{
    if (find_request(ipc))
        ipc_follow(&ipc->analysis, &ipc->found, &ipc->functions, &ipc->analysis.tables[ABOUT_REQUEST]);
    else
        note_no_request(ipc);
}

static void finish_ipc(struct analysis *analysis)
{
    struct ipc *ipc = (struct ipc *)analysis;

    cut_calls(ipc);
    ipc_fill_tables(ipc);
    if (ipc->request != NULL)
        follow_request(ipc);
    if ((ipc->client != NULL || ipc->server != NULL || ipc->function != NULL) && map_total(&ipc->edges) == 0)
        snprintf(analysis->note, sizeof(analysis->note),
                 "no call matches --client, --server and --function; `tarn ipc --top 0` lists all");
    if (ipc->wants_dot)
        ipc_draw_graph(ipc);
}

static bool print_graph(struct analysis *analysis, FILE *to, bool *is_all, struct fail *fail)
{
    const struct ipc *ipc = (const struct ipc *)analysis;

    if (ipc->dot != NULL)
        fputs(ipc->dot, to);
    *is_all = ipc->dot != NULL;
    return true;
}

const struct analysis_kind ipc_analysis = {
    .name = "ipc",
    .summary = "calls between processes: latency, where time goes, one call's critical path",
    .options = options,
    .tables = ipc_tables,
    .table_count = IPC_TABLES,
    .totals = &ipc_totals,
    .size = sizeof(struct ipc),
    .open = open_ipc,
    .finish = finish_ipc,
    .print = print_graph,
    .close = close_ipc,
};
