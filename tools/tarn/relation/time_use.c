/*
 * time_use.c - the relations `time_use` and `served`: what threads did, with each tick of a thread's life
 * once, and what servers did for a call.
 *
 * What a thread does in a segment (model.h) is one of the kinds below. A page fault's kind is known at its
 * end, so its time is a row there.
 */
#include <tools/tarn/relation/maker.h>

enum { TIME_USE, SERVED };

enum use_kind {
    USE_USER,
    USE_POSIX, /* in the C library itself */
    USE_SYSCALL,
    USE_FAULT,
    USE_EXCEPTION,
    USE_IRQ,
    USE_IPI,
    USE_BOOT, /* this and the next two: of an idle thread */
    USE_KERNEL,
    USE_IDLE,
    USE_SERVER,   /* a server works on its call */
    USE_TAKE,     /* no server has received its call yet */
    USE_DEFERRED, /* the server received its call and will reply later */
    USE_READY,
    USE_WAIT, /* detail: model_state */
    USE_UNKNOWN,
    USE_OPEN_FAULT, /* a page fault that has not ended */
    USE_KINDS
};

static const struct {
    const char *name, *part;
} kinds[USE_KINDS] = {
    [USE_USER] = {"user code", "user"},
    [USE_POSIX] = {"POSIX call", "posix"},
    [USE_SYSCALL] = {"system call", "syscalls"},
    [USE_FAULT] = {"page fault", "faults"},
    [USE_EXCEPTION] = {"exception", "faults"},
    [USE_IRQ] = {"interrupt", "interrupts"},
    [USE_IPI] = {"IPI", "interrupts"},
    [USE_BOOT] = {"boot", "kernel_work"},
    [USE_KERNEL] = {"kernel work", "kernel_work"},
    [USE_IDLE] = {"idle", "idle"},
    [USE_SERVER] = {"in server", "in_server"},
    [USE_TAKE] = {"waits for a server", "to_server"},
    [USE_DEFERRED] = {"waits for a reply", "deferred"},
    [USE_READY] = {"ready", "ready"},
    [USE_WAIT] = {"waits", "waits"},
    [USE_UNKNOWN] = {"unknown", "unknown"},
    [USE_OPEN_FAULT] = {"open page fault", "faults"},
};

static const enum use_kind kind_of_activity[ACTIVITIES] = {
    [ACTIVITY_LIBC] = USE_POSIX,          [ACTIVITY_SYSCALL] = USE_SYSCALL, [ACTIVITY_FAULT] = USE_FAULT,
    [ACTIVITY_EXCEPTION] = USE_EXCEPTION, [ACTIVITY_IRQ] = USE_IRQ,         [ACTIVITY_IPI] = USE_IPI,
    [ACTIVITY_REQUEST] = USE_USER,        [ACTIVITY_DRAIN] = USE_USER};

struct use {
    enum use_kind kind;
    uint64_t detail;  /* of an activity, its own; of a call, its label */
    uint64_t whom;    /* of a call: functions_whom */
    uint64_t context; /* 1 + the innermost POSIX call; 0: none */
};

struct progress {   /* of one thread */
    uint64_t fault; /* ticks in the current fault */
    struct use use; /* of its last segment */
    uint64_t end;   /* of that */
};

struct time_use {
    struct making making; /* first */
    struct slots progress;
};

static struct use use_when_blocked(const struct model_thread *thread)
{
    const struct model_call *call = thread->calling;
    bool needs_reply = thread->state == MODEL_BLOCKED_SEND || thread->state == MODEL_BLOCKED_REPLY ||
                       thread->state == MODEL_BLOCKED_FAULT;
    if (thread->state == MODEL_READY || thread->state == MODEL_UNKNOWN)
        return (struct use){.kind = thread->state == MODEL_READY ? USE_READY : USE_UNKNOWN};
    if (call == NULL || !needs_reply)
        return (struct use){.kind = USE_WAIT, .detail = thread->state};
    return (struct use){.kind = call->received == 0 ? USE_TAKE
                                : call->parked != 0 ? USE_DEFERRED
                                                    : USE_SERVER,
                        .detail = call->label,
                        .whom = functions_whom(call)};
}

/* Activities in which a program runs its own code. */
static bool is_mark(enum activity kind)
{
    return kind == ACTIVITY_REQUEST || kind == ACTIVITY_DRAIN;
}

/* A request that a server works on counts as the server's own code; `served` has it separately. */
static struct use use_when_running(const struct model_thread *thread)
{
    uint32_t depth = thread->depth;
    if (model_is_asleep(thread))
        return (struct use){.kind = USE_IDLE};
    if (depth > MODEL_DEPTH_MAX)
        return (struct use){.kind = USE_UNKNOWN};
    while (depth > 0 && is_mark(thread->frames[depth - 1].kind))
        depth--;
    if (depth > 0)
        return (struct use){.kind = kind_of_activity[thread->frames[depth - 1].kind],
                            .detail = thread->frames[depth - 1].detail};
    if (thread->is_idle)
        return (struct use){.kind = thread->is_booting ? USE_BOOT : USE_KERNEL};
    return (struct use){.kind = thread->is_stack_known ? USE_USER : USE_UNKNOWN};
}

static uint64_t context_of(const struct model_thread *thread)
{
    uint32_t depth = thread->depth < MODEL_DEPTH_MAX ? thread->depth : MODEL_DEPTH_MAX;
    while (depth > 0 && thread->frames[depth - 1].kind != ACTIVITY_LIBC)
        depth--;
    return depth > 0 ? 1 + (uint64_t)thread->frames[depth - 1].detail : 0;
}

static bool is_call(enum use_kind kind)
{
    return kind >= USE_SERVER && kind <= USE_DEFERRED;
}

/* Whether occurrences of this kind are times without a gap; activities are counted at their begin or end
 * instead. */
static bool counts_intervals(enum use_kind kind)
{
    return kind == USE_USER || (kind >= USE_BOOT && kind <= USE_IDLE) || kind >= USE_SERVER;
}

enum { KIND = 4, DETAIL = 7, CONTEXT = 9 }; /* columns */

static struct value name_of(const struct relation_row *row, const struct relation_column *column)
{
    enum use_kind kind = (enum use_kind)row->cells[KIND].number;
    uint64_t detail = row->cells[DETAIL].number;
    if (kind == USE_WAIT)
        return value_text(model_state_names[detail]);
    if (kind == USE_FAULT && detail == UINT32_MAX)
        return value_text("(end not seen)");
    for (unsigned activity = 0; activity < ACTIVITY_REQUEST; activity++)
        if (kind_of_activity[activity] == kind)
            return value_of_label(row, row->relations->details[activity], detail);
    return value_text(is_call(kind) ? NULL : kinds[kind].name);
}

static struct value name_of_context(const struct relation_row *row, const struct relation_column *column)
{
    struct value context = row->cells[CONTEXT];
    return context.kind == VALUE_NULL
               ? context
               : value_of_label(row, row->relations->details[ACTIVITY_LIBC], context.number);
}

/* clang-format off */
#define USE_COLUMNS(C) \
    C("ts", WHEN, WHEN(begin), "begin") \
    C("dur", SPAN, SPAN(ticks), "duration; a page fault's is a row at its end") \
    C("utid", NUMBER, THREAD_OF(thread), "the thread") \
    C("cpu", NUMBER, NUMBER(making->analysis->trace->streams[thread->cpu].cpu), "where it runs or last ran") \
    C("kind_number", NUMBER, NUMBER(use->kind), "number of the kind") \
    C("kind", TEXT, STRING(kinds[use->kind].name), \
      "activity or state of the thread: user code, system call, ready, ...") \
    C("part", TEXT, STRING(kinds[use->kind].part), "group of kinds: a column of `tarn breakdown`") \
    C("detail", NUMBER, NUMBER(use->detail), \
      "number of the call, fault, interrupt or state; of a call to a server, the label") \
    C("whom", NUMBER, IF(is_call(use->kind), NUMBER(use->whom)), \
      "the server of a call; ipc_function() names it with the label") \
    C("context", NUMBER, IF(use->context != 0, NUMBER(use->context - 1)), \
      "number of the POSIX call in which that was") \
    C("name", LAZY(name_of), NOTHING, "name of the detail, or else of the kind; empty: a call to a server") \
    C("context_name", LAZY(name_of_context), NOTHING, "name of the POSIX call") \
    C("is_new", NUMBER, NUMBER(is_new), "1: it begins; an activity begins in a row without time") \
    C("is_open", NUMBER, NUMBER(use->kind == USE_OPEN_FAULT), \
      "1: a page fault that has not ended: what kind it was is unknown")
#define SERVED_COLUMNS(C) \
    C("ts", WHEN, WHEN(begin), "begin") \
    C("dur", SPAN, SPAN(ticks), "duration") \
    C("utid", NUMBER, THREAD_OF(call->server), "thread that received the call") \
    C("whom", NUMBER, NUMBER(functions_whom(call)), "the server; ipc_function() names it with the label") \
    C("label", NUMBER, NUMBER(call->label), "label of the call") \
    C("running_dur", SPAN, SPAN(runs ? ticks : 0), "the duration if it ran") \
    C("waiting_dur", SPAN, SPAN(runs ? 0 : ticks), "the duration if it did not run") \
    C("is_new", NUMBER, NUMBER(is_new), "1: it receives the call, in a row without time")
/* clang-format on */

static void give_use(struct making *making, const struct model_thread *thread, const struct use *use,
                     uint64_t begin, uint64_t ticks, bool is_new)
{
    MAKING_GIVE(making, TIME_USE, begin, USE_COLUMNS);
}

static void give_served(struct making *making, const struct model_call *call, uint64_t begin, uint64_t ticks,
                        bool runs, bool is_new)
{
    if (making->sinks[SERVED] != NULL)
        MAKING_GIVE(making, SERVED, begin, SERVED_COLUMNS);
}

static void on_segment(struct model_observer *self, const struct model_thread *thread, uint64_t from,
                       uint64_t to)
{
    struct time_use *time_use = MAKING_OF(self, struct time_use);
    struct making *making = &time_use->making;
    uint64_t ticks = model_segment_ticks(thread, from, to);
    struct progress *progress;
    struct use use;
    bool is_new;
    if (!analysis_wants(making->analysis, thread))
        return;
    if (thread->serving != NULL)
        give_served(making, thread->serving, from, ticks, thread->state == MODEL_RUNNING, false);
    if (thread->is_idle && thread->state != MODEL_RUNNING)
        return; /* an idle thread waits for nothing */
    progress = slots_at(&time_use->progress, thread->number);
    use = thread->state == MODEL_RUNNING ? use_when_running(thread) : use_when_blocked(thread);
    if (use.kind == USE_FAULT) {
        progress->fault += ticks;
        return;
    }
    use.context = context_of(thread);
    is_new = counts_intervals(use.kind) &&
             (progress->end != from || progress->use.kind != use.kind || progress->use.detail != use.detail ||
              progress->use.whom != use.whom || progress->use.context != use.context);
    progress->use = use;
    progress->end = to;
    give_use(making, thread, &use, from, ticks, is_new);
}

static void on_enter(struct model_observer *self, const struct model_thread *thread,
                     const struct model_frame *frame)
{
    struct making *making = &MAKING_OF(self, struct time_use)->making;
    struct use use;
    if (frame->kind == ACTIVITY_FAULT || is_mark(frame->kind) || !analysis_wants(making->analysis, thread))
        return;
    use = use_when_running(thread);
    use.context = context_of(thread);
    give_use(making, thread, &use, frame->begin, 0, true);
}

static void on_leave(struct model_observer *self, const struct model_thread *thread,
                     const struct model_frame *frame, uint64_t end)
{
    struct time_use *time_use = MAKING_OF(self, struct time_use);
    const struct use use = {.kind = USE_FAULT, .detail = frame->detail, .context = context_of(thread)};
    struct progress *progress;
    if (frame->kind != ACTIVITY_FAULT || !analysis_wants(time_use->making.analysis, thread))
        return;
    progress = slots_at(&time_use->progress, thread->number);
    give_use(&time_use->making, thread, &use, frame->begin, progress->fault, true);
    progress->fault = 0;
}

static void on_call(struct model_observer *self, const struct model_call *call, uint64_t ticks,
                    bool has_ended)
{
    struct making *making = &MAKING_OF(self, struct time_use)->making;
    if (call->received != ticks || call->parked != 0 || call->replied != 0 || has_ended ||
        call->server == NULL)
        return;
    functions_learn(&making->relations->functions, call);
    if (analysis_wants(making->analysis, call->server))
        give_served(making, call, ticks, 0, false, true);
}

static void open_time_use(struct making *making)
{
    analysis_slots(making->analysis, &((struct time_use *)making)->progress, sizeof(struct progress));
}

static void finish_time_use(struct making *making)
{
    struct time_use *time_use = (struct time_use *)making;
    const struct model *model = making->analysis->model;
    for (uint32_t n = 0; n < time_use->progress.count && n < model->thread_count; n++) {
        const struct progress *progress = slots_at(&time_use->progress, n);
        if (progress->fault != 0 && model->threads[n] != NULL)
            give_use(making, model->threads[n], &(struct use){.kind = USE_OPEN_FAULT}, making->analysis->from,
                     progress->fault, false);
    }
}

const struct maker time_use_maker = {
    .relations = {MADE_RELATION("time_use",
                                "activities and states of threads, with each tick of a thread's life once",
                                USE_COLUMNS),
                  MADE_RELATION("served", "time of servers while they worked on a call", SERVED_COLUMNS)},
    .size = sizeof(struct time_use),
    .observer = {.segment = on_segment, .enter = on_enter, .leave = on_leave, .call = on_call},
    .open = open_time_use,
    .finish = finish_time_use,
};
