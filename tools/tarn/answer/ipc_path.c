/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/answer/ipc_path.c - one call from its begin to its end, through all threads that it waited for;
 * see ipc.h.
 *
 * A second walk remembers, for the time of the request, the segments of its client and of servers' threads
 * and the calls that these made. From those the time line is put together: until a server took the call, what
 * the thread did that took it; then what that did, and where it waited for a call of its own, the same for
 * that; then what kept the client from going on. Each step begins where the one before ended.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/answer/delays.h>
#include <tools/tarn/answer/ipc.h>
#include <tools/tarn/read/order.h>

#define PIECES_MAX    (1u << 22) /* of 64 bytes; what is beyond is not known */
#define PATH_DEPTH    24u
#define NO_THREAD     UINT32_MAX
#define PIECE_UNKNOWN MODEL_STATES

/* A segment of a thread. */
struct piece {
    uint64_t from, to;
    uint64_t serving, calling; /* calls' ids; 0: none */
    uint32_t other;            /* running, and is ready: who runs there; blocked: who woke it; NO_THREAD */
    uint32_t detail;
    uint16_t cpu;
    uint8_t state, activity; /* ACTIVITIES: none */
};

struct pieces {
    struct piece *items;
    size_t count, size;
};

struct path_call {
    uint64_t id, label, whom;
    uint64_t called, received, parked, replied, returned;
    uint32_t client, server, replier; /* threads */
    uint64_t replier_serving;
};

/* What a step of the time line is for. */
enum phase { PHASE_CALL, PHASE_TO_SERVER, PHASE_SERVES, PHASE_DEFERRED, PHASE_BACK };
static const char *const phase_names[] = {"calls", "to server", "serves", "deferred", "back"};

struct step {
    struct piece piece; /* cut to the step */
    uint32_t thread, depth;
    enum phase phase;
    const struct path_call *call;
};

struct path {
    struct answer answer; /* an observer as answers are */
    const struct answer *owner;
    const struct ipc_request *request;
    const struct functions *functions;
    struct map servers; /* pids */
    struct delays delays;
    struct slots threads; /* struct pieces by number */
    size_t piece_count;
    struct map calls;                /* struct path_call by id */
    const struct model_thread *here; /* who logged the event at hand */
    struct step *steps;
    size_t step_count, step_size;
    uint64_t nested; /* calls on the way */
    const struct field *syscalls, *posix, *faults, *ipis;
};

enum {
    ABOUT_ID,
    ABOUT_AT,
    ABOUT_LATENCY,
    ABOUT_CLIENT,
    ABOUT_SERVER,
    ABOUT_NESTED,
    ABOUT_STEPS,
    ABOUT_RESULT
};
const struct table_column ipc_request_columns[8] = {HEX_COLUMN("id", "id"),
                                                    WHEN_COLUMN("at s", "at_ns"),
                                                    TIME_COLUMN("latency", "latency_ns"),
                                                    NUMBER_COLUMN("client", "client_tid"),
                                                    NUMBER_COLUMN("server", "server_tid"),
                                                    COUNT_COLUMN("calls", "calls"),
                                                    COUNT_COLUMN("steps", "steps"),
                                                    SIGNED_COLUMN("result", "result")};
enum { PATH_AT, PATH_DURATION, PATH_TID, PATH_CPU, PATH_PHASE, PATH_CALL, PATH_DOING };
const struct table_column ipc_path_columns[7] = {
    TIME_OF_ONE("after", "after_ns"), TIME_COLUMN("duration", "duration_ns"),
    NUMBER_COLUMN("tid", "tid"),      NUMBER_COLUMN("cpu", "cpu"),
    TEXT_COLUMN("for", "for"),        TEXT_COLUMN("call", "call"),
    TEXT_COLUMN("doing", "doing")};
enum { WORK_DOING, WORK_STEPS, WORK_TOTAL, WORK_SHARE };
const struct table_column ipc_work_columns[4] = {
    TEXT_COLUMN("doing", "doing"), COUNT_COLUMN("steps", "steps"), TIME_COLUMN("total", "total_ns"),
    REAL_COLUMN("%", "percent", 2)};

/* ---- what happened: the walk ---- */

static bool is_followed(const struct path *path, const struct model_thread *thread)
{
    return thread->number == path->request->client || map_find(&path->servers, thread->pid, 0, 0) != NULL;
}

static struct piece *add_piece(struct path *path, const struct model_thread *thread, uint64_t from,
                               uint64_t to)
{
    struct pieces *pieces = slots_at(&path->threads, thread->number);
    struct piece *piece;

    if (path->piece_count == PIECES_MAX)
        return NULL;
    path->piece_count++;
    if (pieces->count == pieces->size) {
        pieces->size = pieces->size ? 2 * pieces->size : 16;
        pieces->items = alloc_more(pieces->items, pieces->size, sizeof(pieces->items[0]));
    }
    piece = &pieces->items[pieces->count++];
    *piece = (struct piece){.from = from,
                            .to = to,
                            .serving = thread->serving != NULL ? thread->serving->id : 0,
                            .calling = thread->calling != NULL ? thread->calling->id : 0,
                            .other = NO_THREAD,
                            .cpu = (uint16_t)thread->cpu,
                            .state = (uint8_t)thread->state,
                            .activity = ACTIVITIES};
    return piece;
}

/* Of a server, the request that it works on says less than what it does for it. */
static void tell_activity(struct piece *piece, const struct model_thread *thread)
{
    uint32_t depth = thread->depth <= MODEL_DEPTH_MAX ? thread->depth : 0;

    while (depth > 0 && thread->frames[depth - 1].kind == ACTIVITY_REQUEST)
        depth--;
    if (depth > 0) {
        piece->activity = (uint8_t)thread->frames[depth - 1].kind;
        piece->detail = thread->frames[depth - 1].detail;
    }
}

/* The piece before one of being ready was waiting, for who woke it. */
static void tell_waker(struct path *path, const struct model_thread *thread, uint64_t from)
{
    struct pieces *pieces = slots_at(&path->threads, thread->number);
    struct piece *last = pieces->count != 0 ? &pieces->items[pieces->count - 1] : NULL;

    if (last != NULL && last->to == from && last->state != MODEL_READY && last->state != MODEL_RUNNING &&
        thread->waker != NULL)
        last->other = thread->waker->number;
}

static void take_delay(struct delays *delays, const struct model_thread *thread,
                       const struct model_thread *by, uint32_t cpu, uint64_t from, uint64_t to)
{
    struct path *path = delays->owner;
    struct piece *piece = is_followed(path, thread) ? add_piece(path, thread, from, to) : NULL;

    if (piece == NULL)
        return;
    piece->state = MODEL_READY;
    piece->cpu = (uint16_t)cpu;
    piece->other = by != NULL ? by->number : NO_THREAD;
}

static void take_segment(struct model_observer *self, const struct model_thread *thread, uint64_t from,
                         uint64_t to)
{
    struct path *path = ANSWER_OF(self, struct path);
    struct piece *piece;

    if (thread->state == MODEL_READY && is_followed(path, thread))
        tell_waker(path, thread, from);
    delays_segment(&path->delays, thread, from, to);
    if (thread->state == MODEL_READY || !is_followed(path, thread))
        return;
    piece = add_piece(path, thread, from, to);
    if (piece != NULL)
        tell_activity(piece, thread);
}

/* How a fault was dealt with is known at its end. */
static void take_leave(struct model_observer *self, const struct model_thread *thread,
                       const struct model_frame *frame, uint64_t end)
{
    struct path *path = ANSWER_OF(self, struct path);
    struct pieces *pieces;

    (void)end;
    if (frame->kind != ACTIVITY_FAULT || !is_followed(path, thread))
        return;
    pieces = slots_at(&path->threads, thread->number);
    for (size_t i = pieces->count; i-- > 0 && pieces->items[i].from >= frame->begin;)
        if (pieces->items[i].activity == ACTIVITY_FAULT && pieces->items[i].detail == UINT32_MAX)
            pieces->items[i].detail = frame->detail;
}

static void take_event(struct model_observer *self, const struct cursor *cursor,
                       const struct model_thread *thread)
{
    struct path *path = ANSWER_OF(self, struct path);

    path->here = thread;
    delays_event(&path->delays, cursor);
}

static void take_call(struct model_observer *self, const struct model_call *call, uint64_t ticks,
                      bool has_ended)
{
    struct path *path = ANSWER_OF(self, struct path);
    struct path_call *kept = map_at(&path->calls, call->id, 0, 0);

    kept->id = call->id;
    kept->label = call->label;
    kept->whom = functions_whom(call);
    kept->called = call->called;
    kept->received = call->received;
    kept->parked = call->parked;
    kept->replied = call->replied;
    kept->returned = call->returned;
    kept->client = call->client->number;
    kept->server = call->server != NULL ? call->server->number : NO_THREAD;
    if (call->replied == ticks && call->returned == 0 && !has_ended) {
        kept->replier = path->here->number;
        kept->replier_serving = path->here->serving != NULL ? path->here->serving->id : 0;
    }
}

static int compare_pieces(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;

    return (a->from > b->from) - (a->from < b->from);
}

/* Delays are told from the newest back. */
static void sort_pieces(struct path *path)
{
    for (uint32_t n = 0; n < path->threads.count; n++) {
        struct pieces *pieces = slots_at(&path->threads, n);

        if (pieces->count > 1)
            qsort(pieces->items, pieces->count, sizeof(pieces->items[0]), compare_pieces);
    }
}

static void walk(struct path *path, struct model *model)
{
    const struct ipc_request *request = path->request;
    struct merge merge;
    struct cursor *cursor;

    model_open(model, path->owner->trace, request->called, request->returned);
    path->answer.model = model;
    path->delays.owner = path;
    path->delays.delayed = take_delay;
    delays_open(&path->delays, &path->answer);
    path->answer.observer.segment = take_segment;
    path->answer.observer.leave = take_leave;
    path->answer.observer.call = take_call;
    path->answer.observer.event = take_event;
    model_observe(model, &path->answer.observer);
    merge_open(&merge, path->owner->trace, NULL, 0, NULL);
    while ((cursor = merge_next(&merge)) != NULL && cursor->ticks <= request->returned)
        model_take(model, cursor);
    merge_close(&merge);
    model_finish(model);
    sort_pieces(path);
}

/* ---- the time line ---- */

static const struct path_call *call_of(const struct path *path, uint64_t id)
{
    return id != 0 ? map_find(&path->calls, id, 0, 0) : NULL;
}

static bool goes_on(const struct step *last, const struct step *step)
{
    return last->piece.to == step->piece.from && last->thread == step->thread && last->depth == step->depth &&
           last->phase == step->phase && last->call == step->call && last->piece.state == step->piece.state &&
           last->piece.activity == step->piece.activity && last->piece.detail == step->piece.detail &&
           last->piece.other == step->piece.other && last->piece.cpu == step->piece.cpu &&
           (step->phase != PHASE_TO_SERVER || last->piece.serving == step->piece.serving);
}

static void add_step(struct path *path, const struct step *step)
{
    struct step *last = path->step_count != 0 ? &path->steps[path->step_count - 1] : NULL;

    if (step->piece.from >= step->piece.to)
        return;
    if (last != NULL && goes_on(last, step)) {
        last->piece.to = step->piece.to;
        return;
    }
    if (path->step_count == path->step_size) {
        path->step_size = path->step_size ? 2 * path->step_size : 64;
        path->steps = alloc_more(path->steps, path->step_size, sizeof(path->steps[0]));
    }
    path->steps[path->step_count++] = *step;
}

/* What the thread did at AT, cut to [AT, to); where nothing is known of it, up to where something is. */
static struct piece piece_at(struct path *path, uint32_t thread, uint64_t at, uint64_t to)
{
    const struct pieces *pieces = slots_find(&path->threads, thread);
    struct piece piece = {
        .from = at, .to = to, .other = NO_THREAD, .state = PIECE_UNKNOWN, .activity = ACTIVITIES};
    size_t low = 0, high = pieces != NULL ? pieces->count : 0;

    while (low < high) { /* the first that ends after AT */
        size_t middle = low + (high - low) / 2;

        if (pieces->items[middle].to <= at)
            low = middle + 1;
        else
            high = middle;
    }
    if (pieces == NULL || low == pieces->count || pieces->items[low].from >= to)
        return piece;
    if (pieces->items[low].from > at) {
        piece.to = pieces->items[low].from;
        return piece;
    }
    piece = pieces->items[low];
    piece.from = at;
    piece.to = piece.to < to ? piece.to : to;
    return piece;
}

static uint64_t earlier(uint64_t left, uint64_t right)
{
    return left < right ? left : right;
}

static uint64_t or_end(uint64_t ticks, uint64_t end)
{
    return ticks != 0 ? earlier(ticks, end) : end;
}

static void follow_call(struct path *path, const struct path_call *call, uint64_t from, uint64_t to,
                        uint32_t depth);

/* Time of CALL in which both its client and THREAD may be at work: who runs counts, otherwise what keeps
 * THREAD. A client that waits hangs on THREAD; one that is ready or runs, does itself what is left to do. */
static void follow_both(struct path *path, const struct path_call *call, enum phase phase, uint32_t thread,
                        uint64_t from, uint64_t to, uint32_t depth)
{
    while (from < to) {
        struct piece client = piece_at(path, call->client, from, to);
        struct piece other = piece_at(path, thread, from, client.to);
        bool is_client = phase == PHASE_BACK ? client.state == MODEL_RUNNING || client.state == MODEL_READY
                                             : client.state == MODEL_RUNNING && other.state != MODEL_RUNNING;

        if (thread == NO_THREAD || (phase == PHASE_BACK && other.state != MODEL_RUNNING))
            is_client = true;
        client.to = thread == NO_THREAD ? client.to : other.to;
        add_step(path, &(struct step){is_client ? client : other, is_client ? call->client : thread,
                                      is_client ? depth - 1 : depth, phase, call});
        from = client.to;
    }
}

static void follow_server(struct path *path, const struct path_call *call, uint64_t from, uint64_t to,
                          uint32_t depth)
{
    while (from < to) {
        struct piece piece = piece_at(path, call->server, from, to);
        const struct path_call *inner = call_of(path, piece.calling);

        if (inner != NULL && depth < PATH_DEPTH && inner->called <= from &&
            or_end(inner->returned, to) > from) {
            uint64_t end = or_end(inner->returned, to);

            path->nested += inner->called == from;
            follow_call(path, inner, from, end, depth + 1);
            from = end;
            continue;
        }
        if (piece.state == MODEL_BLOCKED_RECEIVE) /* handed over to it, does not run yet */
            follow_both(path, call, PHASE_SERVES, call->server, from, piece.to, depth);
        else
            add_step(path, &(struct step){piece, call->server, depth, PHASE_SERVES, call});
        from = piece.to;
    }
}

/* [FROM, TO) of a call, without gap. DEPTH: of its server; its client is one less. */
static void follow_call(struct path *path, const struct path_call *call, uint64_t from, uint64_t to,
                        uint32_t depth)
{
    uint64_t received = or_end(call->received, to), parked, replied;

    replied = call->received != 0 ? or_end(call->replied, to) : to;
    parked = earlier(or_end(call->parked, to), replied);
    if (from < received)
        follow_both(path, call, PHASE_TO_SERVER, call->server, from, received, depth);
    from = from > received ? from : received;
    if (from < parked)
        follow_server(path, call, from, parked, depth);
    from = from > parked ? from : parked;
    if (from < replied)
        add_step(path, &(struct step){{.from = from,
                                       .to = replied,
                                       .serving = call->replier_serving,
                                       .other = NO_THREAD,
                                       .state = MODEL_BLOCKED_RECEIVE,
                                       .activity = ACTIVITIES},
                                      call->replied != 0 ? call->replier : call->server,
                                      depth,
                                      PHASE_DEFERRED,
                                      call});
    from = from > replied ? from : replied;
    if (from < to)
        follow_both(path, call, PHASE_BACK, call->server, from, to, depth);
}

/* ---- tables ---- */

static const struct model_thread *thread_of(const struct path *path, uint32_t number)
{
    return number < path->answer.model->thread_count ? path->answer.model->threads[number] : NULL;
}

static const char *thread_name(const struct path *path, uint32_t number)
{
    const struct model_thread *thread = thread_of(path, number);

    return thread != NULL ? answer_thread_name(&path->answer, thread) : "(nobody)";
}

static const char *call_name(const struct path *path, const struct path_call *call,
                             char text[FUNCTION_NAME_BYTES])
{
    return call != NULL ? functions_name(path->functions, call->whom, call->label, text) : "another call";
}

static void describe_running(const struct path *path, const struct piece *piece, char *text, size_t size)
{
    char number[ANSWER_NAME_BYTES];

    switch (piece->activity) {
    case ACTIVITY_LIBC:
        snprintf(text, size, "runs, POSIX call %s", label_of(path->posix, piece->detail, number));
        break;
    case ACTIVITY_SYSCALL:
        snprintf(text, size, "runs, system call %s", label_of(path->syscalls, piece->detail, number));
        break;
    case ACTIVITY_FAULT:
        snprintf(text, size, "runs, page fault %s",
                 piece->detail != UINT32_MAX ? label_of(path->faults, piece->detail, number) : "");
        break;
    case ACTIVITY_IRQ:
        snprintf(text, size, "runs, interrupt %u", piece->detail);
        break;
    case ACTIVITY_IPI:
        snprintf(text, size, "runs, IPI %s", label_of(path->ipis, piece->detail, number));
        break;
    case ACTIVITIES:
        snprintf(text, size, "runs");
        break;
    default:
        snprintf(text, size, "runs, %s", model_activity_names[piece->activity]);
    }
}

static void describe_ready(const struct path *path, const struct piece *piece, char *text, size_t size)
{
    const struct model_thread *by = thread_of(path, piece->other);

    if (by == NULL)
        snprintf(text, size, "ready");
    else if (by->is_idle)
        snprintf(text, size, "ready, the processor wakes up");
    else
        snprintf(text, size, "ready behind %s/%u", answer_thread_name(&path->answer, by), by->tid);
}

static void describe(const struct path *path, const struct step *step, char *text, size_t size)
{
    const struct piece *piece = &step->piece;
    const struct path_call *served = call_of(path, piece->serving);
    const struct model_thread *waker = thread_of(path, piece->other);
    char name[FUNCTION_NAME_BYTES];
    size_t used;

    if (step->phase == PHASE_DEFERRED) {
        snprintf(text, size, "answers later%s%s%s", piece->serving ? ", while it serves " : "",
                 piece->serving ? call_name(path, served, name) : "",
                 served != NULL && thread_of(path, served->client) != NULL ? " of " : "");
        used = strlen(text);
        if (served != NULL && thread_of(path, served->client) != NULL)
            snprintf(text + used, size - used, "%s", thread_name(path, served->client));
        return;
    }
    if (piece->state == MODEL_RUNNING)
        describe_running(path, piece, text, size);
    else if (piece->state == MODEL_READY)
        describe_ready(path, piece, text, size);
    else if (piece->state == PIECE_UNKNOWN || piece->state == MODEL_UNKNOWN)
        snprintf(text, size, "not known");
    else if (waker != NULL)
        snprintf(text, size, "%s, woken by %s/%u", model_state_names[piece->state],
                 answer_thread_name(&path->answer, waker), waker->tid);
    else
        snprintf(text, size, "%s", model_state_names[piece->state]);
    used = strlen(text);
    if (step->phase == PHASE_TO_SERVER && step->thread != step->call->client && piece->serving != 0 &&
        piece->serving != step->call->id)
        snprintf(text + used, size - used, "; serves %s of %s", call_name(path, served, name),
                 served != NULL ? thread_name(path, served->client) : "another");
}

static void fill_path(const struct path *path, struct table *table)
{
    struct answer_adder adder = {.answer = path->owner};
    char text[400], name[FUNCTION_NAME_BYTES];

    for (size_t i = 0; i < path->step_count; i++) {
        const struct step *step = &path->steps[i];
        const struct model_thread *thread = thread_of(path, step->thread);
        struct table_row *row = table_add(table, thread_name(path, step->thread));

        describe(path, step, text, sizeof(text));
        row->indent = step->depth;
        row->cells[PATH_AT].count = answer_ns(path->owner, step->piece.from - path->request->called);
        row->cells[PATH_DURATION].count = answer_add(&adder, step->piece.to - step->piece.from);
        row->cells[PATH_TID].count = thread != NULL ? thread->tid : (uint64_t)TABLE_NONE;
        row->cells[PATH_CPU].count = step->piece.state == MODEL_RUNNING || step->piece.state == MODEL_READY
                                         ? path->owner->trace->streams[step->piece.cpu].cpu
                                         : (uint64_t)TABLE_NONE;
        row->cells[PATH_PHASE].text =
            phase_names[step->depth == 0 && step->phase == PHASE_TO_SERVER ? PHASE_CALL : step->phase];
        row->cells[PATH_CALL].text = table_text(table, call_name(path, step->call, name));
        row->cells[PATH_DOING].text = table_text(table, text);
    }
}

/* Steps of threads of one name that do the same. */
static void fill_work(const struct path *path, struct table *table)
{
    struct answer_adder adder = {.answer = path->owner};
    uint64_t latency = path->request->returned - path->request->called;
    char text[400], name[ANSWER_NAME_BYTES + 400];

    for (size_t i = 0; i < path->step_count; i++) {
        const struct step *step = &path->steps[i];
        uint64_t ticks = step->piece.to - step->piece.from;
        struct table_row *row;
        uint64_t key = 0;

        describe(path, step, text, sizeof(text));
        for (const char *at = text; *at != '\0'; at++)
            key = (key ^ (unsigned char)*at) * 0x100000001b3ull;
        snprintf(name, sizeof(name), "%s", thread_name(path, step->thread));
        row = table_row(table, key, name);
        row->cells[WORK_DOING].text = table_text(table, text);
        row->cells[WORK_STEPS].count++;
        row->cells[WORK_TOTAL].count += answer_add(&adder, ticks);
        row->cells[WORK_SHARE].real += latency ? 100.0 * (double)ticks / (double)latency : 0;
    }
}

static void fill_about(const struct path *path, const struct path_call *call, struct table *table)
{
    const struct ipc_request *request = path->request;
    const struct model_thread *client = thread_of(path, call->client),
                              *server = thread_of(path, call->server);
    char name[FUNCTION_NAME_BYTES], text[FUNCTION_NAME_BYTES + ANSWER_NAME_BYTES];
    struct table_row *row;

    snprintf(text, sizeof(text), "%s -> %s", thread_name(path, call->client), call_name(path, call, name));
    row = table_add(table, text);
    row->cells[ABOUT_ID].count = request->id;
    row->cells[ABOUT_AT].count = answer_when(path->owner, request->called);
    row->cells[ABOUT_LATENCY].count = answer_ns(path->owner, request->returned - request->called);
    row->cells[ABOUT_CLIENT].count = client != NULL ? client->tid : (uint64_t)TABLE_NONE;
    row->cells[ABOUT_SERVER].count = server != NULL ? server->tid : (uint64_t)TABLE_NONE;
    row->cells[ABOUT_NESTED].count = path->nested;
    row->cells[ABOUT_STEPS].count = path->step_count;
    row->cells[ABOUT_RESULT].number = request->result;
}

static void close_path(struct path *path, struct model *model)
{
    for (uint32_t n = 0; n < path->threads.count; n++)
        free(((struct pieces *)slots_at(&path->threads, n))->items);
    slots_close(&path->threads);
    map_close(&path->calls);
    map_close(&path->servers);
    delays_close(&path->delays);
    free(path->steps);
    model_close(model);
}

void ipc_follow(const struct answer *answer, const struct ipc_request *request,
                const struct functions *functions, struct table *about, struct table *path_table,
                struct table *work)
{
    struct path path = {.answer = {.trace = answer->trace, .filter = answer->filter},
                        .owner = answer,
                        .request = request,
                        .functions = functions};
    const struct path_call *call;
    struct model model;

    map_open(&path.calls, sizeof(struct path_call));
    map_open(&path.servers, sizeof(uint64_t));
    for (size_t i = 0; i < functions->servers.count; i++)
        map_at(&path.servers,
               functions_pid(functions, FUNCTION_BY_ENDPOINT | functions->servers.entries[i]->key[0]), 0, 0);
    slots_open(&path.threads, sizeof(struct pieces));
    path.syscalls = answer_field(answer, "syscall_entry", "number");
    path.posix = answer_field(answer, "libc_entry", "call");
    path.faults = answer_field(answer, "fault_exit", "kind");
    path.ipis = answer_field(answer, "irq_ipi_entry", "kind");
    walk(&path, &model);
    call = call_of(&path, request->id);
    if (call != NULL) {
        follow_call(&path, call, request->called, request->returned, 1);
        fill_about(&path, call, about);
        fill_path(&path, path_table);
        fill_work(&path, work);
    }
    close_path(&path, &model);
}
