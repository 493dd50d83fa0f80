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
    return server->calling != NULL                ? PART_CALLS
           : server->state == MODEL_RUNNING       ? PART_RUNNING
           : server->state == MODEL_READY         ? PART_READY
           : server->state == MODEL_BLOCKED_FUTEX ? PART_LOCKS
           : server->state == MODEL_BLOCKED_FAULT ? PART_FAULTS
                                                  : PART_WAITS;
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

enum { LABEL = 5, WHOM = 7 }; /* columns */

static struct value name_of(const struct relation_row *row, const struct relation_column *column)
{
    return STRING(functions_name(&row->relations->functions, row->cells[WHOM].number,
                                 row->cells[LABEL].number, row->relations->text));
}

static struct value server_of(const struct relation_row *row, const struct relation_column *column)
{
    return STRING(
        functions_server(&row->relations->functions, row->cells[WHOM].number, row->relations->text));
}

static struct value label_text(const struct relation_row *row, const struct relation_column *column)
{
    const struct field *labels = row->relations->functions.labels;
    return labels != NULL ? value_of_label(row, labels, row->cells[LABEL].number) : NOTHING;
}

/* clang-format off */
#define PART(number) IF(!is_cut, SPAN(flight->parts[number]))
#define IPC_COLUMNS(C) \
    C("ts", WHEN, WHEN(call->called), "when the client called") \
    C("dur", SPAN, IF(has_returned, VALUE_TICKS(call->returned - call->called, call->called)), \
      "time until the client continued") \
    C("call_id", ADDRESS, HEX(call->id), "number of the call, the same in its four events") \
    C("function", LAZY(name_of), NOTHING, "server and function") \
    C("label", LAZY(label_text), NOTHING, "label of the message") \
    C("label_number", NUMBER, NUMBER(call->label), "the same as a number") \
    C("endpoint", NUMBER, NUMBER(call->endpoint), "endpoint that was called") \
    C("whom", NUMBER, NUMBER(functions_whom(call)), "the server; ipc_function() names it with the label") \
    C("client", TEXT, STRING(analysis_process_name(ipc->making.analysis, client->pid)), \
      "name of the process that called") \
    C("server", LAZY(server_of), NOTHING, "name of the process that received the call") \
    C("client_utid", NUMBER, NUMBER(client->number), "thread that called") \
    C("client_tid", NUMBER, NUMBER(client->tid), "its thread ID") \
    C("client_pid", NUMBER, NUMBER(client->pid), "its process ID") \
    C("server_utid", NUMBER, THREAD_OF(server), "thread that received the call; empty: none") \
    C("server_tid", NUMBER, IF(server != NULL, NUMBER(server->tid)), "its thread ID") \
    C("server_pid", NUMBER, IF(server != NULL, NUMBER(server->pid)), "its process ID") \
    C("received_ts", WHEN, IF(call->received != 0, WHEN(call->received)), "when a server received it") \
    C("replied_ts", WHEN, IF(call->replied != 0, WHEN(call->replied)), "when the server replied") \
    C("returned_ts", WHEN, IF(has_returned, WHEN(call->returned)), "when the client continued") \
    C("result", NUMBER, IF(has_returned, SIGNED(result)), \
      "result of the call, or of the server; negative: an error") \
    C("is_error", NUMBER, NUMBER(!is_cut && result < 0), "1: the result is negative") \
    C("is_cut", NUMBER, NUMBER(is_cut), "1: its begin or end was not seen; it has no parts") \
    C("to_server_dur", SPAN, PART(PART_TO_SERVER), "until a server received it") \
    C("running_dur", SPAN, PART(PART_RUNNING), "its server ran") \
    C("calls_dur", SPAN, PART(PART_CALLS), "its server waited for a call of its own") \
    C("ready_dur", SPAN, PART(PART_READY), "its server waited for a CPU") \
    C("locks_dur", SPAN, PART(PART_LOCKS), "its server waited for a futex") \
    C("faults_dur", SPAN, PART(PART_FAULTS), "its server waited for a pager or fault handler") \
    C("waits_dur", SPAN, PART(PART_WAITS), "its server waited for something else, or was in an unknown state") \
    C("deferred_dur", SPAN, PART(PART_DEFERRED), "its server had received it and worked on something else") \
    C("back_dur", SPAN, PART(PART_BACK), "from the reply until the client ran") \
    C("chain", NUMBER, IF(!is_cut, NUMBER(chain)), "number in ipc_chain")
#define CHAIN_COLUMNS(C) \
    C("chain", NUMBER, NUMBER(i + 1), "number of the chain") \
    C("outer", NUMBER, IF(!is_root, NUMBER(key[0])), \
      "chain that the server worked on when it called; empty: none") \
    C("client_pid", NUMBER, IF(is_root, NUMBER((uint32_t)key[0])), \
      "process that called while it worked on no call") \
    C("whom", NUMBER, NUMBER(key[1]), "the server; ipc_function() names it with the label") \
    C("label_number", NUMBER, NUMBER(key[2]), "label of the call")
/* clang-format on */

static void give_call(struct ipc *ipc, const struct model_call *call)
{
    struct flight *flight = slots_at(&ipc->flights, call->client->number);
    const struct model_thread *client = call->client, *server = call->server;
    bool has_returned = call->returned != 0;
    bool is_cut = flight->id != call->id || !has_returned || call->called < ipc->making.analysis->from;
    int64_t result = call->error != 0 ? call->error : (int64_t)call->reply_label;
    uint64_t chain = 0;
    if (!is_cut) {
        complete_parts(call, flight->parts);
        chain = flight->chain != 0 ? flight->chain : chain_of(ipc, call);
    }
    MAKING_GIVE(&ipc->making, IPC, call->called, IPC_COLUMNS);
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
        MAKING_GIVE(making, CHAIN, making->analysis->from, CHAIN_COLUMNS);
    }
}

const struct maker ipc_maker = {
    .relations = {MADE_RELATION("ipc", "calls between processes, their steps and where their time went",
                                IPC_COLUMNS),
                  MADE_RELATION("ipc_chain", "functions that servers called while they worked on a call",
                                CHAIN_COLUMNS)},
    .size = sizeof(struct ipc),
    .observer = {.segment = on_segment, .call = on_call},
    .open = open_ipc,
    .finish = finish_ipc,
};
