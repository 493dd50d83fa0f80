/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/model/activities.c - what a thread is in the middle of, as a stack; see model_parts.h.
 *
 * An event may contradict the stack: events were lost, or a class was switched off for a while. Then what
 * cannot be true any more is left, cut.
 */
#include <stdlib.h>
#include <tools/tarn/model/model_parts.h>

#define FIRST_ROOM 4u

const char *const model_activity_names[ACTIVITIES] = {
    [ACTIVITY_LIBC] = "libc",           [ACTIVITY_SYSCALL] = "syscall", [ACTIVITY_FAULT] = "fault",
    [ACTIVITY_EXCEPTION] = "exception", [ACTIVITY_IRQ] = "irq",         [ACTIVITY_IPI] = "ipi",
    [ACTIVITY_REQUEST] = "request"};

const struct field *model_detail_field(const struct schema *schema, enum activity kind)
{
    static const char *const fields[ACTIVITIES][2] = {[ACTIVITY_LIBC] = {"libc_entry", "call"},
                                                      [ACTIVITY_SYSCALL] = {"syscall_entry", "number"},
                                                      [ACTIVITY_FAULT] = {"fault_exit", "kind"},
                                                      [ACTIVITY_EXCEPTION] = {"exception_entry", "vector"},
                                                      [ACTIVITY_IRQ] = {"irq_handler_entry", "irq"},
                                                      [ACTIVITY_IPI] = {"irq_ipi_entry", "kind"},
                                                      [ACTIVITY_REQUEST] = {"fs_request_begin", "request"}};
    const struct event_type *type = schema_find_event(schema, fields[kind][0]);

    return type != NULL ? schema_find_field(type, fields[kind][1]) : NULL;
}

/* Kinds during which no activity of this kind can begin. User code is in none of the kernel's. */
#define BIT(kind) (1u << (kind))
#define KERNEL                                                                                   \
    (BIT(ACTIVITY_SYSCALL) | BIT(ACTIVITY_FAULT) | BIT(ACTIVITY_EXCEPTION) | BIT(ACTIVITY_IRQ) | \
     BIT(ACTIVITY_IPI))
static const uint8_t excluded[ACTIVITIES] = {
    [ACTIVITY_LIBC] = KERNEL,
    [ACTIVITY_SYSCALL] = KERNEL,
    [ACTIVITY_FAULT] = KERNEL & ~BIT(ACTIVITY_SYSCALL),
    [ACTIVITY_EXCEPTION] = KERNEL,
    [ACTIVITY_REQUEST] = KERNEL,
};

static __attribute__((noinline)) void tell_enter(struct model *model, const struct model_thread *thread,
                                                 const struct model_frame *frame)
{
    if (!is_in_range(model))
        return;
    for (struct model_observer *observer = model->observers; observer != NULL; observer = observer->next)
        if (observer->enter != NULL)
            observer->enter(observer, thread, frame);
}

static __attribute__((noinline)) void tell_leave(struct model *model, const struct model_thread *thread,
                                                 const struct model_frame *frame, uint64_t end)
{
    if (end < model->from)
        return;
    for (struct model_observer *observer = model->observers; observer != NULL; observer = observer->next)
        if (observer->leave != NULL)
            observer->leave(observer, thread, frame, end);
}

/* The segment up to END is closed already. */
static void leave_top(struct model *model, struct model_thread *thread, uint64_t end)
{
    struct model_frame *frame;
    bool is_interrupt;

    if (thread->depth-- > MODEL_DEPTH_MAX)
        return;
    frame = &thread->frames[thread->depth];
    is_interrupt = frame->kind == ACTIVITY_IRQ || frame->kind == ACTIVITY_IPI;
    frame->ran = thread->ran - frame->ran;
    if (thread->depth != 0) {
        frame[-1].inner += frame->ran;
        frame[-1].interrupts += is_interrupt ? frame->ran : frame->interrupts;
    }
    if (frame->begin < model->from) {
        frame->begin = model->from;
        frame->is_cut = true;
    }
    if (model->wants_activities)
        tell_leave(model, thread, frame, end);
}

void activities_cut(struct model *model, struct model_thread *thread, uint32_t depth, uint64_t at)
{
    if (thread->depth <= depth)
        return;
    close_segment(model, thread, at);
    while (thread->depth > depth) {
        if (thread->depth <= MODEL_DEPTH_MAX)
            thread->frames[thread->depth - 1].is_cut = true;
        leave_top(model, thread, thread->segment);
    }
}

static void cut_excluded(struct model *model, struct model_thread *thread, uint32_t kinds)
{
    enum activity top;

    while ((top = activity_top(thread)) != ACTIVITIES && (BIT(top) & kinds) != 0)
        activities_cut(model, thread, thread->depth - 1, model->now);
}

static void grow_frames(struct model_thread *thread)
{
    thread->frame_room = thread->frame_room == 0 ? FIRST_ROOM : MODEL_DEPTH_MAX;
    thread->frames = alloc_more(thread->frames, thread->frame_room, sizeof(thread->frames[0]));
}

void activity_enter(struct model *model, struct model_thread *thread, enum activity kind, uint32_t detail,
                    uint64_t arg0, uint64_t arg1)
{
    struct model_frame *frame;

    close_segment(model, thread, model->now);
    if (thread->depth != 0)
        cut_excluded(model, thread, excluded[kind]);
    if (kind == ACTIVITY_LIBC || kind == ACTIVITY_SYSCALL)
        thread->is_stack_known = true;
    if (thread->depth++ >= MODEL_DEPTH_MAX)
        return;
    if (thread->depth > thread->frame_room)
        grow_frames(thread);
    frame = &thread->frames[thread->depth - 1];
    *frame = (struct model_frame){
        .kind = kind, .detail = detail, .begin = model->now, .args = {arg0, arg1}, .ran = thread->ran};
    if (model->wants_activities)
        tell_enter(model, thread, frame);
}

static inline bool is_frame(const struct model_frame *frame, enum activity kind, uint32_t detail,
                            uint64_t arg0)
{
    return frame->kind == kind && (kind == ACTIVITY_FAULT ? frame->args[0] == arg0 : frame->detail == detail);
}

/* An end without a begin: what is known is that it was there until now. */
static void leave_unseen(struct model *model, struct model_thread *thread, enum activity kind,
                         uint32_t detail, uint64_t arg0, int64_t result)
{
    struct model_frame frame = {.kind = kind,
                                .detail = detail,
                                .begin = model->now,
                                .args = {arg0},
                                .is_cut = true,
                                .result = result};

    cut_excluded(model, thread, excluded[kind]);
    if (is_in_range(model))
        tell_leave(model, thread, &frame, model->now);
}

void activity_leave(struct model *model, struct model_thread *thread, enum activity kind, uint32_t detail,
                    uint64_t arg0, int64_t result)
{
    uint32_t depth = thread->depth;
    struct model_frame *frame;

    close_segment(model, thread, model->now);
    if (kind == ACTIVITY_LIBC || kind == ACTIVITY_SYSCALL)
        thread->is_stack_known = true;
    if (depth > MODEL_DEPTH_MAX) {
        thread->depth--;
        return;
    }
    while (depth > 0 && !is_frame(&thread->frames[depth - 1], kind, detail, arg0))
        depth--;
    if (depth == 0) {
        leave_unseen(model, thread, kind, detail, arg0, result);
        return;
    }
    activities_cut(model, thread, depth, model->now);
    frame = &thread->frames[depth - 1];
    frame->detail = detail;
    frame->result = result;
    leave_top(model, thread, model->now);
}
