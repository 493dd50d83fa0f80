/*
 * activities.h - begin and end activities: the inlined fast paths.
 *
 * Two of three events begin or end an activity, so the common case is inlined into the function that takes
 * the event, where the kind is a constant. activities.c has the rest.
 */
#pragma once

#include <tools/tarn/model/model_parts.h>

/* Kinds, as bits, inside which no activity of this kind can begin. User code cannot run in the kernel. */
static inline uint8_t activity_excludes(enum activity kind)
{
    enum {
        KERNEL = 1 << ACTIVITY_SYSCALL | 1 << ACTIVITY_FAULT | 1 << ACTIVITY_EXCEPTION | 1 << ACTIVITY_IRQ |
                 1 << ACTIVITY_IPI
    };
    static const uint8_t excluded[ACTIVITIES] = {
        [ACTIVITY_LIBC] = KERNEL,
        [ACTIVITY_SYSCALL] = KERNEL,
        [ACTIVITY_FAULT] = KERNEL & ~(1 << ACTIVITY_SYSCALL),
        [ACTIVITY_EXCEPTION] = KERNEL,
        [ACTIVITY_REQUEST] = KERNEL,
        [ACTIVITY_DRAIN] = KERNEL,
    };
    return excluded[kind];
}

/* The kind of the sentinel below all activities: ACTIVITY_AWAKE for an idle thread whose CPU is awake. */
#define ACTIVITY_AWAKE (ACTIVITIES + 1)
static inline uint32_t activity_outside(const struct model_thread *thread)
{
    return thread->is_idle && !thread->is_asleep ? ACTIVITY_AWAKE : ACTIVITIES;
}

static inline uint8_t activity_mode(uint32_t kind)
{
    static const uint8_t modes[ACTIVITY_AWAKE + 1] = {
        [ACTIVITY_LIBC] = MODE_USER,        [ACTIVITY_SYSCALL] = MODE_KERNEL, [ACTIVITY_FAULT] = MODE_KERNEL,
        [ACTIVITY_EXCEPTION] = MODE_KERNEL, [ACTIVITY_IRQ] = MODE_INTERRUPT,  [ACTIVITY_IPI] = MODE_INTERRUPT,
        [ACTIVITY_REQUEST] = MODE_USER,     [ACTIVITY_DRAIN] = MODE_USER,     [ACTIVITIES] = MODE_USER,
        [ACTIVITY_AWAKE] = MODE_KERNEL};
    return modes[kind];
}

static inline bool activity_is_interrupt(enum activity kind)
{
    return kind == ACTIVITY_IRQ || kind == ACTIVITY_IPI;
}

static inline bool activity_is_in(const struct model_thread *thread, uint8_t kinds)
{
    enum activity top = activity_top(thread);
    return top != ACTIVITIES && (1 << top & kinds) != 0;
}

void activities_cut_kinds(struct model *model, struct model_thread *thread, uint8_t kinds);
void activity_tell_enter(struct model *model, const struct model_thread *thread,
                         const struct model_frame *frame);
void activity_tell_leave(struct model *model, const struct model_thread *thread,
                         const struct model_frame *frame, uint64_t end);
/* Slow path of activity_leave: the activity is not the innermost, or unknown. */
void activity_leave_other(struct model *model, struct model_thread *thread, enum activity kind,
                          uint32_t detail, uint64_t arg0, int64_t result);

#define DEPTH_FIRST 4u /* there is space for that many at first */

static inline __attribute__((always_inline)) void activity_enter(struct model *model,
                                                                 struct model_thread *thread,
                                                                 enum activity kind, uint32_t detail,
                                                                 uint64_t arg0, uint64_t arg1)
{
    struct model_frame *frame;
    close_segment(model, thread, model->now);
    /* all excluded kinds run in the kernel */
    if (activity_excludes(kind) != 0 && __builtin_expect(thread->mode != MODE_USER, 0) &&
        activity_is_in(thread, activity_excludes(kind)))
        activities_cut_kinds(model, thread, activity_excludes(kind));
    if (kind == ACTIVITY_LIBC || kind == ACTIVITY_SYSCALL)
        thread->is_stack_known = true;
    if (__builtin_expect(thread->depth++ >= MODEL_DEPTH_MAX, 0)) {
        thread->mode = MODE_USER;
        return;
    }
    if (__builtin_expect(thread->depth > thread->frame_capacity, 0))
        activities_reserve(thread, thread->frame_capacity == 0 ? DEPTH_FIRST : MODEL_DEPTH_MAX);
    frame = &thread->frames[thread->depth - 1];
    *frame = (struct model_frame){.kind = kind,
                                  .detail = detail,
                                  .begin = model->now,
                                  .args = {arg0, arg1},
                                  .ran = thread->ran,
                                  .uncounted = thread->uncounted,
                                  .is_drain = !activity_is_interrupt(kind) && thread->is_draining};
    thread->mode = activity_mode(kind);
    if (model->wants_activities)
        activity_tell_enter(model, thread, frame);
}

/* Pops the innermost activity without testing whether there is an outer one, because that branch is
 * unpredictable. The segment up to END is already closed. */
static inline void activity_leave_top(struct model *model, struct model_thread *thread, uint64_t end)
{
    struct model_frame *frame;
    bool is_interrupt;
    if (__builtin_expect(thread->depth > MODEL_DEPTH_MAX, 0)) {
        activities_set_depth(thread, thread->depth - 1);
        return;
    }
    frame = &thread->frames[--thread->depth];
    is_interrupt = activity_is_interrupt(frame->kind);
    frame->uncounted = thread->uncounted - frame->uncounted;
    frame->ran = thread->ran - frame->ran;
    frame[-1].inner += frame->ran;
    frame[-1].interrupts += is_interrupt ? frame->ran : frame->interrupts;
    thread->mode = activity_mode(frame[-1].kind);
    if (__builtin_expect(frame->begin < model->from, 0)) {
        frame->begin = model->from;
        frame->is_cut = true;
    }
    if (model->wants_activities)
        activity_tell_leave(model, thread, frame, end);
}

static inline bool is_frame(const struct model_frame *frame, enum activity kind, uint32_t detail,
                            uint64_t arg0)
{
    return frame->kind == kind && (kind == ACTIVITY_FAULT ? frame->args[0] == arg0 : frame->detail == detail);
}

/* DETAIL: as on entry; of a fault, which ARG0 matches, how it was handled. */
static inline __attribute__((always_inline)) void activity_leave(struct model *model,
                                                                 struct model_thread *thread,
                                                                 enum activity kind, uint32_t detail,
                                                                 uint64_t arg0, int64_t result)
{
    struct model_frame *frame;
    close_segment(model, thread, model->now);
    if (kind == ACTIVITY_LIBC || kind == ACTIVITY_SYSCALL)
        thread->is_stack_known = true;
    if (__builtin_expect(activity_top(thread) == ACTIVITIES, 0) ||
        __builtin_expect(!is_frame(&thread->frames[thread->depth - 1], kind, detail, arg0), 0)) {
        activity_leave_other(model, thread, kind, detail, arg0, result);
        return;
    }
    frame = &thread->frames[thread->depth - 1];
    frame->detail = detail;
    frame->result = result;
    activity_leave_top(model, thread, model->now);
}
