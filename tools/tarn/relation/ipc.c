/*
 * ipc.c - the relations `ipc` and `ipc_chain`: calls, with the parts of their latency, and the chains of
 * nested calls.
 *
 * While a call is in progress, its server's time is added up in a record of the client, which has at most one
 * call. What is not known of a call counts as a wait, so the parts add up to the latency. A call that a
 * server makes for the call that it works on continues that call's chain.
 */
#include <tools/tarn/relation/maker.h>

enum { IPC, CHAIN };

enum ipc_part {
    PART_TO_SERVER, /* no server has received it */
    PART_RUNNING,   /* its server runs */
    PART_CALLS,     /* its server waits for a call of its own */
    PART_READY,     /* its server waits for a CPU */
    PART_LOCKS,     /* its server waits for a futex */
    PART_FAULTS,    /* its server waits for a pager or fault handler */
    PART_WAITS,     /* its server waits for something else, or is in an unknown state */
    PART_DEFERRED,  /* its server received it and works on something else */
    PART_BACK,      /* replied, the client does not run yet */
    IPC_PARTS
};

/* A client's call in progress. */
struct flight {
    uint64_t id;
    uint64_t parts[IPC_PARTS]; /* ticks */
    uint64_t chain;            /* 0: unknown */
};

/* In place of the number of the chain around: the client serves no call. */
#define CHAIN_ROOT (1ull << 63) /* | pid */

struct ipc {
    struct making making; /* first */
    struct map chains;    /* number from 1 on, by that of the one around or CHAIN_ROOT, target, label */
    struct slots flights; /* by the client's number */
};

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
    struct ipc *ipc = MAKING_OF(self, struct ipc);
    struct flight *flight;
    if (thread->serving == NULL)
        return;
    flight = slots_at(&ipc->flights, thread->serving->client->number);
    if (flight->id == thread->serving->id)
        flight->parts[part_of(thread)] += model_segment_ticks(thread, from, to);
}

static uint64_t chain_of(struct ipc *ipc, const struct model_call *call)
{
    const struct model_call *outer = call->outer;
    const struct flight *around =
        outer != NULL && outer->id == call->outer_id ? slots_at(&ipc->flights, outer->client->number) : NULL;
    uint64_t parent = CHAIN_ROOT | call->client->pid;
    uint64_t *number;
    if (around != NULL && around->id == call->outer_id && around->chain != 0)
        parent = around->chain;
    number = map_at(&ipc->chains, parent, functions_whom(call), call->label);
    if (*number == 0 && ipc->chains.others == NULL)
        *number = ipc->chains.count;
    return *number;
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

/* ---- rows ---- */

enum { LABEL = 5, WHOM = 7, PARTS = 22, CHAIN_CELL = PARTS + IPC_PARTS, COLUMNS };

static struct value name_of(const struct relation_row *row, const struct relation_column *column)
{
    const struct functions *functions = &row->relations->functions;
    char text[FUNCTION_NAME_BYTES];
    functions_name(functions, row->cells[WHOM].number, row->cells[LABEL].number, text);
    return value_copy(row, text);
}

static struct value server_of(const struct relation_row *row, const struct relation_column *column)
{
    char text[FUNCTION_NAME_BYTES];
    return value_copy(row, functions_server(&row->relations->functions, row->cells[WHOM].number, text));
}

static struct value label_text(const struct relation_row *row, const struct relation_column *column)
{
    const struct field *labels = row->relations->functions.labels;
    return labels != NULL ? value_of_label(row, labels, row->cells[LABEL].number) : NOTHING;
}

static void give_call(struct ipc *ipc, const struct model_call *call)
{
    struct flight *flight = slots_at(&ipc->flights, call->client->number);
    const struct analysis *analysis = ipc->making.analysis;
    const struct model_thread *client = call->client, *server = call->server;
    bool has_returned = call->returned != 0;
    bool is_cut = flight->id != call->id || !has_returned || call->called < analysis->from;
    struct value cells[COLUMNS] = {
        VALUE_OF(VALUE_WHEN, call->called),
        VALUE_IF(has_returned, VALUE_TICKS(call->returned - call->called, call->called)),
        VALUE_OF(VALUE_HEX, call->id),
        NOTHING,
        NOTHING,
        VALUE_NUMBER(call->label),
        VALUE_NUMBER(call->endpoint),
        VALUE_NUMBER(functions_whom(call)),
        value_text(analysis_process_name(analysis, client->pid)),
        NOTHING,
        VALUE_NUMBER(client->number),
        VALUE_NUMBER(client->tid),
        VALUE_NUMBER(client->pid),
        value_of_thread(server),
        VALUE_IF(server != NULL, VALUE_NUMBER(server->tid)),
        VALUE_IF(server != NULL, VALUE_NUMBER(server->pid)),
        VALUE_IF(call->received != 0, VALUE_OF(VALUE_WHEN, call->received)),
        VALUE_IF(call->replied != 0, VALUE_OF(VALUE_WHEN, call->replied)),
        VALUE_IF(call->returned != 0, VALUE_OF(VALUE_WHEN, call->returned)),
        VALUE_IF(has_returned, VALUE_OF(VALUE_SIGNED, ipc_result(call))),
        VALUE_NUMBER(!is_cut && ipc_result(call) < 0),
        VALUE_NUMBER(is_cut)};
    if (!is_cut) {
        complete_parts(call, flight->parts);
        for (unsigned i = 0; i < IPC_PARTS; i++)
            cells[PARTS + i] = VALUE_TICKS(flight->parts[i], 0);
        cells[CHAIN_CELL] = VALUE_NUMBER(flight->chain != 0 ? flight->chain : chain_of(ipc, call));
    }
    making_give(&ipc->making, IPC, call->called, cells);
}

static bool is_wanted(const struct ipc *ipc, const struct model_call *call)
{
    return analysis_wants(ipc->making.analysis, call->client) ||
           (call->server != NULL && analysis_wants(ipc->making.analysis, call->server));
}

static void on_call(struct model_observer *self, const struct model_call *call, uint64_t ticks,
                    bool has_ended)
{
    struct ipc *ipc = MAKING_OF(self, struct ipc);
    struct flight *flight = slots_at(&ipc->flights, call->client->number);
    if (call->called == ticks && call->received == 0 && !has_ended)
        *flight = (struct flight){.id = call->id};
    if (call->received == ticks && call->replied == 0 && call->parked == 0 && !has_ended) {
        functions_learn(&ipc->making.relations->functions, call);
        if (flight->id == call->id && flight->chain == 0)
            flight->chain = chain_of(ipc, call);
    }
    if (has_ended && is_wanted(ipc, call))
        give_call(ipc, call);
}

static void open_ipc(struct making *making)
{
    struct ipc *ipc = (struct ipc *)making;
    analysis_map(making->analysis, &ipc->chains, sizeof(uint64_t));
    ipc->chains.limit = MAP_DISTRIBUTIONS_MAX;
    analysis_slots(making->analysis, &ipc->flights, sizeof(struct flight));
    making->observer.segment = on_segment;
    making->observer.call = on_call;
}

/* Gives the calls in progress, and the chains. */
static void finish_ipc(struct making *making)
{
    struct ipc *ipc = (struct ipc *)making;
    const struct model *model = making->analysis->model;
    for (uint32_t n = 0; n < model->thread_count; n++) {
        const struct model_thread *thread = model->threads[n];
        if (thread != NULL && thread->calling != NULL && is_wanted(ipc, thread->calling))
            give_call(ipc, thread->calling);
    }
    for (size_t i = 0; i < ipc->chains.count; i++) {
        const uint64_t *key = ipc->chains.entries[i]->key;
        bool is_root = key[0] & CHAIN_ROOT;
        MAKING_GIVE(making, CHAIN, making->analysis->from, VALUE_NUMBER(i + 1),
                    VALUE_IF(!is_root, VALUE_NUMBER(key[0])),
                    VALUE_IF(is_root, VALUE_NUMBER((uint32_t)key[0])), VALUE_NUMBER(key[1]),
                    VALUE_NUMBER(key[2]));
    }
}

/* clang-format off */
static const struct relation_column ipc_columns[] = {
    MADE_COLUMN("ts", UNIT_WHEN, "when the client called"),
    MADE_COLUMN("dur", UNIT_SPAN, "time until the client continued"),
    MADE_COLUMN("call_id", UNIT_ADDRESS, "number of the call, the same in its four events"),
    {.name = "function", .text = "server and function", .unit = UNIT_TEXT, .value = name_of},
    {.name = "label", .text = "label of the message", .unit = UNIT_TEXT, .value = label_text},
    MADE_COLUMN("label_number", UNIT_NUMBER, "the same as a number"),
    MADE_COLUMN("endpoint", UNIT_NUMBER, "endpoint that was called"),
    MADE_COLUMN("whom", UNIT_NUMBER, "the server; ipc_function() names it with the label"),
    MADE_COLUMN("client", UNIT_TEXT, "name of the process that called"),
    {.name = "server", .text = "name of the process that received the call", .unit = UNIT_TEXT, .value = server_of},
    MADE_COLUMN("client_utid", UNIT_NUMBER, "thread that called"),
    MADE_COLUMN("client_tid", UNIT_NUMBER, "its thread ID"),
    MADE_COLUMN("client_pid", UNIT_NUMBER, "its process ID"),
    MADE_COLUMN("server_utid", UNIT_NUMBER, "thread that received the call; empty: none"),
    MADE_COLUMN("server_tid", UNIT_NUMBER, "its thread ID"),
    MADE_COLUMN("server_pid", UNIT_NUMBER, "its process ID"),
    MADE_COLUMN("received_ts", UNIT_WHEN, "when a server received it"),
    MADE_COLUMN("replied_ts", UNIT_WHEN, "when the server replied"),
    MADE_COLUMN("returned_ts", UNIT_WHEN, "when the client continued"),
    MADE_COLUMN("result", UNIT_NUMBER, "result of the call, or of the server; negative: an error"),
    MADE_COLUMN("is_error", UNIT_NUMBER, "1: the result is negative"),
    MADE_COLUMN("is_cut", UNIT_NUMBER, "1: its begin or end was not seen; it has no parts"),
    MADE_COLUMN("to_server_dur", UNIT_SPAN, "until a server received it"),
    MADE_COLUMN("running_dur", UNIT_SPAN, "its server ran"),
    MADE_COLUMN("calls_dur", UNIT_SPAN, "its server waited for a call of its own"),
    MADE_COLUMN("ready_dur", UNIT_SPAN, "its server waited for a CPU"),
    MADE_COLUMN("locks_dur", UNIT_SPAN, "its server waited for a futex"),
    MADE_COLUMN("faults_dur", UNIT_SPAN, "its server waited for a pager or fault handler"),
    MADE_COLUMN("waits_dur", UNIT_SPAN, "its server waited for something else, or was in an unknown state"),
    MADE_COLUMN("deferred_dur", UNIT_SPAN, "its server had received it and worked on something else"),
    MADE_COLUMN("back_dur", UNIT_SPAN, "from the reply until the client ran"),
    MADE_COLUMN("chain", UNIT_NUMBER, "number in ipc_chain"),
};
static const struct relation_column chain_columns[] = {
    MADE_COLUMN("chain", UNIT_NUMBER, "number of the chain"),
    MADE_COLUMN("outer", UNIT_NUMBER, "chain that the server worked on when it called; empty: none"),
    MADE_COLUMN("client_pid", UNIT_NUMBER, "process that called while it worked on no call"),
    MADE_COLUMN("whom", UNIT_NUMBER, "the server; ipc_function() names it with the label"),
    MADE_COLUMN("label_number", UNIT_NUMBER, "label of the call"),
};
/* clang-format on */
_Static_assert(sizeof(ipc_columns) / sizeof(ipc_columns[0]) == COLUMNS, "a cell for each column");

const struct maker ipc_maker = {
    .relations = {MADE_RELATION("ipc", "calls between processes, their steps and where their time went",
                                ipc_columns),
                  MADE_RELATION("ipc_chain", "functions that servers called while they worked on a call",
                                chain_columns)},
    .size = sizeof(struct ipc),
    .open = open_ipc,
    .finish = finish_ipc,
};
