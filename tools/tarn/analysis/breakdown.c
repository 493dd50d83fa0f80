/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * breakdown.c - `tarn breakdown`: where the time went, with each tick of a thread's life attributed once.
 *
 * What a thread does in a segment (model.h) is one `what`: its own code, a POSIX call, a system call, a
 * fault, an interrupt, waiting, or a server's work on its call (ex-process time). Time is added up by thread
 * and by the POSIX call in which it was spent; the tables group it in several ways.
 */
#include <tools/tarn/analysis/breakdown.h>

static const enum what_kind what_of_activity[ACTIVITIES] = {
    [ACTIVITY_LIBC] = WHAT_POSIX,          [ACTIVITY_SYSCALL] = WHAT_SYSCALL, [ACTIVITY_FAULT] = WHAT_FAULT,
    [ACTIVITY_EXCEPTION] = WHAT_EXCEPTION, [ACTIVITY_IRQ] = WHAT_IRQ,         [ACTIVITY_IPI] = WHAT_IPI,
    [ACTIVITY_REQUEST] = WHAT_USER,        [ACTIVITY_DRAIN] = WHAT_USER};

static struct function *function_of(struct breakdown *breakdown, const struct model_call *call)
{
    struct function *function = map_at(&breakdown->functions, functions_whom(call), call->label, 0);

    if (function->number == 0)
        function->number = breakdown->functions.count;
    return function;
}

static struct what what_of_call(struct breakdown *breakdown, const struct model_thread *thread)
{
    const struct model_call *call = thread->calling;
    enum what_kind kind = call->received == 0 ? WHAT_TAKE : call->parked != 0 ? WHAT_DEFERRED : WHAT_EX;

    return (struct what){kind, function_of(breakdown, call)->number};
}

static struct what what_when_blocked(struct breakdown *breakdown, const struct model_thread *thread)
{
    switch (thread->state) {
    case MODEL_READY:
        return (struct what){WHAT_READY, 0};
    case MODEL_BLOCKED_SEND:
    case MODEL_BLOCKED_REPLY:
    case MODEL_BLOCKED_FAULT:
        if (thread->calling != NULL)
            return what_of_call(breakdown, thread);
        return (struct what){WHAT_WAIT, thread->state};
    case MODEL_UNKNOWN:
        return (struct what){WHAT_UNKNOWN, 0};
    default:
        return (struct what){WHAT_WAIT, thread->state};
    }
}

/* Activities in which a program runs its own code. */
static bool is_mark(enum activity kind)
{
    return kind == ACTIVITY_REQUEST || kind == ACTIVITY_DRAIN;
}

/* A request that a server works on counts as the server's own code; the table `served` has it separately. */
static struct what what_when_running(const struct model_thread *thread)
{
    uint32_t depth = thread->depth;

    if (model_is_asleep(thread))
        return (struct what){WHAT_IDLE, 0};
    if (depth > MODEL_DEPTH_MAX)
        return (struct what){WHAT_UNKNOWN, 0};
    while (depth > 0 && is_mark(thread->frames[depth - 1].kind))
        depth--;
    if (depth > 0)
        return (struct what){what_of_activity[thread->frames[depth - 1].kind],
                             thread->frames[depth - 1].detail};
    if (thread->is_idle)
        return (struct what){thread->is_booting ? WHAT_BOOT : WHAT_KERNEL, 0};
    return (struct what){thread->is_stack_known ? WHAT_USER : WHAT_UNKNOWN, 0};
}

/* Returns 1 + the innermost POSIX call; 0: none. */
static uint64_t context_of(const struct model_thread *thread)
{
    uint32_t depth = thread->depth < MODEL_DEPTH_MAX ? thread->depth : MODEL_DEPTH_MAX;

    while (depth > 0 && thread->frames[depth - 1].kind != ACTIVITY_LIBC)
        depth--;
    return depth > 0 ? 1 + (uint64_t)thread->frames[depth - 1].detail : 0;
}

static struct part *part_of(struct breakdown *breakdown, const struct model_thread *thread, uint64_t context,
                            struct what what)
{
    return map_at(&breakdown->parts, thread->number, CONTEXT_KEY(context, what.kind), what.detail);
}

/* Whether occurrences of this kind are stretches; activities are counted at their begin or end instead. */
static bool counts_stretches(enum what_kind kind)
{
    return kind == WHAT_USER || (kind >= WHAT_BOOT && kind <= WHAT_IDLE) || kind >= WHAT_EX;
}

static void on_segment(struct model_observer *self, const struct model_thread *thread, uint64_t from,
                       uint64_t to)
{
    struct breakdown *breakdown = ANALYSIS_OF(self, struct breakdown);
    struct progress *progress;
    struct what what;
    struct part *part;
    uint64_t context, ticks = model_segment_ticks(thread, from, to);

    if (thread->serving != NULL) {
        struct function *function = function_of(breakdown, thread->serving);

        if (analysis_wants(&breakdown->analysis, thread))
            *(thread->state == MODEL_RUNNING ? &function->ran : &function->waited) += ticks;
    }
    if (!analysis_wants(&breakdown->analysis, thread) || (thread->is_idle && thread->state != MODEL_RUNNING))
        return; /* an idle thread waits for nothing */
    progress = slots_at(&breakdown->progress, thread->number);
    what = thread->state == MODEL_RUNNING ? what_when_running(thread) : what_when_blocked(breakdown, thread);
    if (what.kind == WHAT_FAULT) {
        progress->fault += ticks;
        progress->ticks[GROUP_FAULT] += ticks;
        return;
    }
    context = context_of(thread);
    part = part_of(breakdown, thread, context, what);
    part->ticks += ticks;
    progress->ticks[breakdown_kinds[what.kind].group] += ticks;
    part->count += counts_stretches(what.kind) &&
                   (progress->end != from || progress->key[0] != CONTEXT_KEY(context, what.kind) ||
                    progress->key[1] != what.detail);
    progress->key[0] = CONTEXT_KEY(context, what.kind);
    progress->key[1] = what.detail;
    progress->end = to;
}

static void on_enter(struct model_observer *self, const struct model_thread *thread,
                     const struct model_frame *frame)
{
    struct breakdown *breakdown = ANALYSIS_OF(self, struct breakdown);

    if (frame->kind != ACTIVITY_FAULT && !is_mark(frame->kind) &&
        analysis_wants(&breakdown->analysis, thread))
        part_of(breakdown, thread, context_of(thread), what_when_running(thread))->count++;
}

static void on_leave(struct model_observer *self, const struct model_thread *thread,
                     const struct model_frame *frame, uint64_t end)
{
    struct breakdown *breakdown = ANALYSIS_OF(self, struct breakdown);
    struct progress *progress;
    struct part *part;

    if (frame->kind != ACTIVITY_FAULT || !analysis_wants(&breakdown->analysis, thread))
        return;
    progress = slots_at(&breakdown->progress, thread->number);
    part = part_of(breakdown, thread, context_of(thread), (struct what){WHAT_FAULT, frame->detail});
    part->ticks += progress->fault;
    part->count++;
    progress->fault = 0;
}

static void on_call(struct model_observer *self, const struct model_call *call, uint64_t ticks,
                    bool has_ended)
{
    struct breakdown *breakdown = ANALYSIS_OF(self, struct breakdown);

    if (call->received != ticks || call->parked != 0 || call->replied != 0 || has_ended ||
        call->server == NULL)
        return;
    functions_learn(&breakdown->names_of_functions, call);
    if (analysis_wants(&breakdown->analysis, call->server))
        function_of(breakdown, call)->calls++;
}

static bool open_breakdown(struct analysis *analysis, struct fail *fail)
{
    struct breakdown *breakdown = (struct breakdown *)analysis;

    analysis_map(analysis, &breakdown->parts, sizeof(struct part));
    analysis_map(analysis, &breakdown->functions, sizeof(struct function));
    functions_open(&breakdown->names_of_functions, analysis);
    analysis_slots(analysis, &breakdown->progress, sizeof(struct progress));
    for (unsigned kind = 0; kind < ACTIVITIES; kind++)
        breakdown->names[what_of_activity[kind]] = model_detail_field(&analysis->trace->schema, kind);
    analysis->observer.segment = on_segment;
    analysis->observer.enter = on_enter;
    analysis->observer.leave = on_leave;
    analysis->observer.call = on_call;
    return true;
}

const struct analysis_kind breakdown_analysis = {
    .name = "breakdown",
    .summary = "where each thread's time went: own code, calls, faults, servers, waiting",
    .tables = breakdown_tables,
    .table_count = BREAKDOWN_TABLES,
    .totals = &breakdown_totals,
    .size = sizeof(struct breakdown),
    .open = open_breakdown,
    .finish = breakdown_fill,
};
