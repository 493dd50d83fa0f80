/*
 * ipc_path.c - the relation `ipc_step`: the critical path of one call: what it waited for, through all
 * threads involved.
 *
 * While the call is in progress, the segments of all threads and their calls are recorded. When it returns,
 * these give the time line: until a server received the call, what that server's thread did; then what it did
 * for the call, where time in nested calls is resolved the same way; then what kept the client from
 * continuing. Each step begins where the one before ended.
 */
#include <stdio.h>
#include <tools/tarn/relation/delays.h>
#include <tools/tarn/relation/maker.h>

#define PIECES_MAX (1u << 22) /* of 64 bytes each; any more are dropped */
#define PATH_DEPTH 24u

#define PIECE_UNKNOWN MODEL_STATES

struct piece {
    uint64_t from, to;
    uint64_t serving, calling; /* ids of calls; 0: none */
    /* while it is ready: the thread that runs there; while blocked: the thread that woke it; or NULL */
    const struct model_thread *other;
    uint32_t detail;
    uint16_t cpu;
    uint8_t state, activity; /* ACTIVITIES: none */
};

struct pieces {
    struct piece *items;
    size_t count, size;
};

struct path_call {
    struct model_call call; /* as it was last: its outer one is not valid */
    const struct model_thread *replier;
    uint64_t replier_serving;
};

/* The phase of the call that a step belongs to. */
enum phase { PHASE_CALL, PHASE_TO_SERVER, PHASE_SERVES, PHASE_DEFERRED, PHASE_BACK };

struct step {
    struct piece piece;                /* cut to the step */
    const struct model_thread *thread; /* NULL: nobody */
    uint32_t depth;
    enum phase phase;
    const struct path_call *call;
};

struct follower {
    struct making making; /* first */
    uint64_t id;          /* of the call that is followed */
    bool is_called;       /* it is in progress */
    struct delays delays;
    struct slots threads; /* struct pieces, by thread number */
    size_t piece_count;
    struct map calls;                /* struct path_call, by id */
    const struct model_thread *here; /* the thread that logged the current event */
    struct step *steps;
    size_t step_count, step_size;
};

static const struct path_call *path_call_of(const struct follower *path, uint64_t id)
{
    return id != 0 ? map_find(&path->calls, id, 0, 0) : NULL;
}

/* ---- what happened meanwhile ---- */

static struct piece *add_piece(struct follower *path, const struct model_thread *thread, uint64_t from,
                               uint64_t to)
{
    struct pieces *pieces = slots_at(&path->threads, thread->number);
    struct piece *piece;
    if (path->piece_count == PIECES_MAX)
        return NULL;
    path->piece_count++;
    pieces->items = arena_grow(&path->making.analysis->arena, pieces->items, pieces->count, &pieces->size,
                               sizeof(pieces->items[0]));
    piece = &pieces->items[pieces->count++];
    *piece = (struct piece){.from = from,
                            .to = to,
                            .serving = thread->serving != NULL ? thread->serving->id : 0,
                            .calling = thread->calling != NULL ? thread->calling->id : 0,
                            .cpu = (uint16_t)thread->cpu,
                            .state = (uint8_t)thread->state,
                            .activity = ACTIVITIES};
    return piece;
}

/* Skips a server's request activities: the activities inside say more. */
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

/* If the thread was blocked before it became ready, notes the waker in that piece. */
static void tell_waker(struct follower *path, const struct model_thread *thread, uint64_t from)
{
    struct pieces *pieces = slots_at(&path->threads, thread->number);
    struct piece *last = pieces->count != 0 ? &pieces->items[pieces->count - 1] : NULL;
    if (last != NULL && last->to == from && last->state != MODEL_READY && last->state != MODEL_RUNNING &&
        thread->waker != NULL)
        last->other = thread->waker;
}

static void on_delay(struct delays *delays, const struct model_thread *thread, const struct model_thread *by,
                     uint32_t cpu, uint64_t from, uint64_t to)
{
    struct follower *path = OUTER(delays, struct follower, delays);
    struct piece *piece = add_piece(path, thread, from, to);
    if (piece == NULL)
        return;
    piece->state = MODEL_READY;
    piece->cpu = (uint16_t)cpu;
    piece->other = by;
}

static void on_segment(struct model_observer *self, const struct model_thread *thread, uint64_t from,
                       uint64_t to)
{
    struct follower *path = MAKING_OF(self, struct follower);
    struct piece *piece;
    if (!path->is_called)
        return;
    if (thread->state == MODEL_READY)
        tell_waker(path, thread, from);
    delays_segment(&path->delays, thread, from, to);
    piece = thread->state != MODEL_READY ? add_piece(path, thread, from, to) : NULL;
    if (piece != NULL)
        tell_activity(piece, thread);
}

/* The kind of a fault is known at its end. */
static void on_leave(struct model_observer *self, const struct model_thread *thread,
                     const struct model_frame *frame, uint64_t end)
{
    struct follower *path = MAKING_OF(self, struct follower);
    struct pieces *pieces;
    if (!path->is_called || frame->kind != ACTIVITY_FAULT)
        return;
    pieces = slots_at(&path->threads, thread->number);
    for (size_t i = pieces->count; i-- > 0 && pieces->items[i].from >= frame->begin;)
        if (pieces->items[i].activity == ACTIVITY_FAULT && pieces->items[i].detail == UINT32_MAX)
            pieces->items[i].detail = frame->detail;
}

static void on_event(struct model_observer *self, const struct cursor *cursor,
                     const struct model_thread *thread)
{
    struct follower *path = MAKING_OF(self, struct follower);
    path->here = thread;
    if (path->is_called)
        delays_event(&path->delays, cursor);
}

/* Takes the parts of the segments in progress. */
static void take_open_segments(struct follower *path, uint64_t until)
{
    const struct model *model = path->making.analysis->model;
    for (uint32_t i = 0; i < model->thread_count; i++)
        if (model->threads[i] != NULL && model->threads[i]->segment < until &&
            !model_leaves_out(model, model->threads[i]))
            on_segment(&path->making.observer, model->threads[i], model->threads[i]->segment, until);
}

/* ---- the time line ---- */

static bool goes_on(const struct step *last, const struct step *step)
{
    return last->piece.to == step->piece.from && last->thread == step->thread && last->depth == step->depth &&
           last->phase == step->phase && last->call == step->call && last->piece.state == step->piece.state &&
           last->piece.activity == step->piece.activity && last->piece.detail == step->piece.detail &&
           last->piece.other == step->piece.other && last->piece.cpu == step->piece.cpu &&
           (step->phase != PHASE_TO_SERVER || last->piece.serving == step->piece.serving);
}

static void add_step(struct follower *path, const struct step *step)
{
    struct step *last = path->step_count != 0 ? &path->steps[path->step_count - 1] : NULL;
    if (step->piece.from >= step->piece.to)
        return;
    if (last != NULL && goes_on(last, step)) {
        last->piece.to = step->piece.to;
        return;
    }
    path->steps = arena_grow(&path->making.analysis->arena, path->steps, path->step_count, &path->step_size,
                             sizeof(path->steps[0]));
    path->steps[path->step_count++] = *step;
}

/* Returns what the thread did at AT, cut to [AT, to); for unknown time, up to the next known piece. */
static struct piece piece_at(struct follower *path, const struct model_thread *thread, uint64_t at,
                             uint64_t to)
{
    const struct pieces *pieces = thread != NULL ? slots_find(&path->threads, thread->number) : NULL;
    struct piece piece = {.from = at, .to = to, .state = PIECE_UNKNOWN, .activity = ACTIVITIES};
    uint64_t count = pieces != NULL ? pieces->count : 0;
    uint64_t first = FIRST_WHERE(0, count, n, pieces->items[n].to > at);
    if (first == count || pieces->items[first].from >= to)
        return piece;
    if (pieces->items[first].from > at) {
        piece.to = pieces->items[first].from;
        return piece;
    }
    piece = pieces->items[first];
    piece.from = at;
    piece.to = sooner(piece.to, to);
    return piece;
}

static uint64_t or_end(uint64_t ticks, uint64_t end)
{
    return ticks != 0 ? sooner(ticks, end) : end;
}

static void follow_call(struct follower *path, const struct path_call *followed, uint64_t from, uint64_t to,
                        uint32_t depth);

/* Follows a time of CALL in which both its client and THREAD may work: a running one counts, else what THREAD
 * waits for. A blocked client waits for THREAD; one that is ready or runs does the remaining work itself. */
static void follow_both(struct follower *path, const struct path_call *call, enum phase phase,
                        const struct model_thread *thread, uint64_t from, uint64_t to, uint32_t depth)
{
    while (from < to) {
        struct piece client = piece_at(path, call->call.client, from, to);
        struct piece other = piece_at(path, thread, from, client.to);
        bool is_client = phase == PHASE_BACK ? client.state == MODEL_RUNNING || client.state == MODEL_READY
                                             : client.state == MODEL_RUNNING && other.state != MODEL_RUNNING;
        if (thread == NULL || (phase == PHASE_BACK && other.state != MODEL_RUNNING))
            is_client = true;
        client.to = thread == NULL ? client.to : other.to;
        add_step(path, &(struct step){is_client ? client : other, is_client ? call->call.client : thread,
                                      is_client ? depth - 1 : depth, phase, call});
        from = client.to;
    }
}

static void follow_server(struct follower *path, const struct path_call *call, uint64_t from, uint64_t to,
                          uint32_t depth)
{
    while (from < to) {
        struct piece piece = piece_at(path, call->call.server, from, to);
        const struct path_call *inner = path_call_of(path, piece.calling);
        if (inner != NULL && depth < PATH_DEPTH && inner->call.called <= from &&
            or_end(inner->call.returned, to) > from) {
            uint64_t end = or_end(inner->call.returned, to);
            follow_call(path, inner, from, end, depth + 1);
            from = end;
            continue;
        }
        if (piece.state == MODEL_BLOCKED_RECEIVE) /* it was handed over, but does not run yet */
            follow_both(path, call, PHASE_SERVES, call->call.server, from, piece.to, depth);
        else
            add_step(path, &(struct step){piece, call->call.server, depth, PHASE_SERVES, call});
        from = piece.to;
    }
}

/* Follows a call in [FROM, TO) without gaps. DEPTH is the server's; the client's is one less. */
static void follow_call(struct follower *path, const struct path_call *followed, uint64_t from, uint64_t to,
                        uint32_t depth)
{
    const struct model_call *call = &followed->call;
    uint64_t received = or_end(call->received, to), parked, replied;
    replied = call->received != 0 ? or_end(call->replied, to) : to;
    parked = sooner(or_end(call->parked, to), replied);
    if (from < received)
        follow_both(path, followed, PHASE_TO_SERVER, call->server, from, received, depth);
    from = later(from, received);
    if (from < parked)
        follow_server(path, followed, from, parked, depth);
    from = later(from, parked);
    const struct piece deferred = {from, replied, followed->replier_serving, 0,         NULL,
                                   0,    0,       MODEL_BLOCKED_RECEIVE,     ACTIVITIES};
    if (from < replied)
        add_step(path, &(struct step){deferred, call->replied != 0 ? followed->replier : call->server, depth,
                                      PHASE_DEFERRED, followed});
    from = later(from, replied);
    if (from < to)
        follow_both(path, followed, PHASE_BACK, call->server, from, to, depth);
}

/* ---- rows ---- */

static const char *const phase_names[] = {"calls", "to server", "serves", "deferred", "back"};

static const char *call_name(const struct follower *path, const struct path_call *call,
                             char text[FUNCTION_NAME_BYTES])
{
    return call != NULL ? functions_name(&path->making.relations->functions, functions_whom(&call->call),
                                         call->call.label, text)
                        : "another call";
}

/* "name/tid"; NULL: nobody. */
static struct value thread_text(const struct follower *path, const struct model_thread *thread, char text[80])
{
    if (thread != NULL)
        snprintf(text, 80, "%s/%u", analysis_thread_name(path->making.analysis, thread), thread->tid);
    return value_text(thread != NULL ? text : NULL);
}

static struct value detail_text(const struct follower *path, const struct piece *piece,
                                char text[ANALYSIS_NAME_BYTES])
{
    const struct field *const *details = path->making.relations->details;
    if (piece->activity == ACTIVITIES)
        return NOTHING;
    return value_text(piece->detail != UINT32_MAX ? label_of(details[piece->activity], piece->detail, text)
                                                  : "");
}

/* Whether the thread serves another call instead: before it takes this one, or before it replies. */
static bool serves_another(const struct step *step)
{
    return step->piece.serving != 0 &&
           (step->phase == PHASE_DEFERRED ||
            (step->phase == PHASE_TO_SERVER && step->thread != step->call->call.client &&
             step->piece.serving != step->call->call.id));
}

/* clang-format off */
#define STEP_COLUMNS(C) \
    C("number", NUMBER, NUMBER(number), "number of the step, from 0 on") \
    C("depth", NUMBER, NUMBER(step->depth), "number of calls around it") \
    C("after", SPAN, SPAN(piece->from - called), "time from the call until the step") \
    C("dur", NUMBER, NUMBER(ns), "its nanoseconds; those of all steps add up to the latency") \
    C("thread", TEXT, STRING(thread ? analysis_thread_name(analysis, thread) : "(nobody)"), \
      "name of the thread that the call waited for") \
    C("process", TEXT, STRING(thread ? analysis_process_name(analysis, thread->pid) : "(nobody)"), \
      "name of its process") \
    C("tid", NUMBER, IF(thread != NULL, NUMBER(thread->tid)), "thread ID") \
    C("pid", NUMBER, IF(thread != NULL, NUMBER(thread->pid)), "process ID") \
    C("cpu", NUMBER, IF(is_on_cpu, NUMBER(analysis->trace->streams[piece->cpu].cpu)), \
      "where it ran, or was ready") \
    C("phase", TEXT, STRING(phase_names[is_call ? PHASE_CALL : step->phase]), \
      "phase of the call: calls, to server, serves, deferred or back") \
    C("call", TEXT, STRING(call_name(path, step->call, name)), \
      "server and function of the call, which may be a nested one") \
    C("of_call", ADDRESS, HEX(step->call->call.id), "ID of that call") \
    C("state", TEXT, STRING(model_state_names[piece->state == PIECE_UNKNOWN ? MODEL_UNKNOWN : piece->state]), \
      "state of the thread") \
    C("activity", TEXT, STRING(piece->activity != ACTIVITIES ? model_activity_names[piece->activity] : NULL), \
      "innermost activity of the thread, as in the relation activity") \
    C("detail", TEXT, detail_text(path, piece, detail), "which call, fault or interrupt that was") \
    C("other", TEXT, thread_text(path, other, text), \
      "name and ID of the thread that ran while it was ready, or else that woke it") \
    C("other_is_idle", NUMBER, NUMBER(other != NULL && other->is_idle), "1: that is an idle thread") \
    C("serves", TEXT, STRING(serves_another(step) ? call_name(path, served, serving) : NULL), \
      "other call that the thread served instead: server and function") \
    C("serves_client", TEXT, STRING(served != NULL ? analysis_thread_name(analysis, served->call.client) : NULL), \
      "name of its client") \
    C("call_id", PARAMETER(0, NUMBER), NOTHING, "the call that is followed: `call_id = ID`")
/* clang-format on */

static void give_step(struct follower *path, size_t number, uint64_t called, uint64_t ns)
{
    const struct analysis *analysis = path->making.analysis;
    const struct step *step = &path->steps[number];
    const struct piece *piece = &step->piece;
    const struct model_thread *thread = step->thread, *other = piece->other;
    const struct path_call *served = path_call_of(path, piece->serving);
    bool is_on_cpu = piece->state == MODEL_RUNNING || piece->state == MODEL_READY;
    bool is_call = step->depth == 0 && step->phase == PHASE_TO_SERVER;
    char name[FUNCTION_NAME_BYTES], serving[FUNCTION_NAME_BYTES], text[80], detail[ANALYSIS_NAME_BYTES];
    MAKING_GIVE(&path->making, 0, called, STEP_COLUMNS);
}

/* The call has returned. */
static void give_path(struct follower *path, const struct path_call *call)
{
    struct analysis_accumulator accumulator = {.analysis = path->making.analysis};
    take_open_segments(path, call->call.returned);
    path->is_called = false;
    for (uint32_t n = 0; n < path->threads.count; n++) { /* delays were reported newest first */
        struct pieces *pieces = slots_at(&path->threads, n);
        if (pieces->count > 1)
            qsort(pieces->items, pieces->count, sizeof(pieces->items[0]), compare_numbers);
    }
    follow_call(path, call, call->call.called, call->call.returned, 1);
    for (size_t i = 0; i < path->step_count; i++)
        give_step(path, i, call->call.called,
                  analysis_add(&accumulator, path->steps[i].piece.to - path->steps[i].piece.from));
}

static void on_call(struct model_observer *self, const struct model_call *call, uint64_t ticks,
                    bool has_ended)
{
    struct follower *path = MAKING_OF(self, struct follower);
    struct path_call *kept;
    functions_learn(&path->making.relations->functions, call);
    path->is_called |= call->id == path->id && call->called == ticks && call->received == 0 && !has_ended;
    if (!path->is_called)
        return;
    kept = map_at(&path->calls, call->id, 0, 0);
    kept->call = *call;
    if (call->replied == ticks && call->returned == 0 && !has_ended) {
        kept->replier = path->here;
        kept->replier_serving = path->here->serving != NULL ? path->here->serving->id : 0;
    }
    if (call->id == path->id && has_ended && call->returned != 0)
        give_path(path, kept);
}

static void open_follower(struct making *making)
{
    struct follower *follower = (struct follower *)making;
    follower->id = making->parameters[0] != NULL ? strtoull(making->parameters[0], NULL, 0) : 0;
    analysis_map(making->analysis, &follower->calls, sizeof(struct path_call));
    analysis_slots(making->analysis, &follower->threads, sizeof(struct pieces));
    follower->delays.delayed = on_delay;
    delays_open(&follower->delays, making->analysis);
}

const struct maker ipc_path_maker = {
    .relations = {MADE_RELATION("ipc_step", "the critical path of a call: steps without gaps", STEP_COLUMNS)},
    .size = sizeof(struct follower),
    .observer = {.segment = on_segment, .leave = on_leave, .call = on_call, .event = on_event},
    .open = open_follower,
};
