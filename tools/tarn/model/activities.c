/*
 * activities.c - the stacks of activities; see model_parts.h.
 *
 * An event may contradict the stack, because events were lost or a class was disabled for a while.
 * Activities that cannot be in progress any more are then ended as cut.
 */
#include <tools/tarn/model/activities.h>

const char *const model_activity_names[ACTIVITIES] = {
    [ACTIVITY_LIBC] = "libc",           [ACTIVITY_SYSCALL] = "syscall", [ACTIVITY_FAULT] = "fault",
    [ACTIVITY_EXCEPTION] = "exception", [ACTIVITY_IRQ] = "irq",         [ACTIVITY_IPI] = "ipi",
    [ACTIVITY_REQUEST] = "request",     [ACTIVITY_DRAIN] = "drain"};

const struct field *model_detail_field(const struct schema *schema, enum activity kind)
{
    static const char *const fields[ACTIVITIES][2] = {[ACTIVITY_LIBC] = {"libc_entry", "call"},
                                                      [ACTIVITY_SYSCALL] = {"syscall_entry", "number"},
                                                      [ACTIVITY_FAULT] = {"fault_exit", "kind"},
                                                      [ACTIVITY_EXCEPTION] = {"exception_entry", "vector"},
                                                      [ACTIVITY_IRQ] = {"irq_handler_entry", "irq"},
                                                      [ACTIVITY_IPI] = {"irq_ipi_entry", "kind"},
                                                      [ACTIVITY_REQUEST] = {"fs_request_begin", "request"}};
    const struct event_type *type =
        fields[kind][0] != NULL ? schema_find_event(schema, fields[kind][0]) : NULL;
    return schema_find_field(type, fields[kind][1]);
}

void activity_tell_enter(struct model *model, const struct model_thread *thread,
                         const struct model_frame *frame)
{
    if (is_in_range(model) && !(model->leaves_out_drain && frame->is_drain))
        TELL_OBSERVERS(model, enter, thread, frame);
}

void activity_tell_leave(struct model *model, const struct model_thread *thread,
                         const struct model_frame *frame, uint64_t end)
{
    if (end < model->from)
        return;
    model->subtracted.short_spans +=
        model->subtracts_costs && !frame->is_cut && end - frame->begin < frame->uncounted;
    if (model->leaves_out_drain && frame->is_drain)
        model->left_out.activities++;
    else
        TELL_OBSERVERS(model, leave, thread, frame, end);
}

void activities_cut(struct model *model, struct model_thread *thread, uint32_t depth, uint64_t at)
{
    if (thread->depth <= depth)
        return;
    close_segment(model, thread, at);
    while (thread->depth > depth) {
        if (thread->depth <= MODEL_DEPTH_MAX)
            thread->frames[thread->depth - 1].is_cut = true;
        activity_leave_top(model, thread, thread->segment);
    }
}

void activities_cut_kinds(struct model *model, struct model_thread *thread, uint8_t kinds)
{
    while (activity_is_in(thread, kinds))
        activities_cut(model, thread, thread->depth - 1, model->now);
}

void activities_reserve(struct model_thread *thread, uint8_t capacity)
{
    struct model_frame *frames = thread->frames != NULL ? thread->frames - 1 : NULL;
    frames = alloc_more(frames, capacity + 1u, sizeof(frames[0]));
    frames[0] = (struct model_frame){.kind = activity_outside(thread)};
    thread->frames = frames + 1;
    thread->frame_capacity = capacity;
}

void activities_free(struct model_thread *thread)
{
    free(thread->frames != NULL ? thread->frames - 1 : NULL);
    thread->frames = NULL;
    thread->frame_capacity = 0;
    activities_set_depth(thread, 0);
}

void activities_set_depth(struct model_thread *thread, uint32_t depth)
{
    thread->depth = depth;
    thread->mode = activity_mode(depth == 0 ? activity_outside(thread) : activity_top(thread));
}

void activities_set_sleep(struct model_thread *thread, bool is_asleep)
{
    thread->is_asleep = is_asleep;
    if (thread->frames != NULL)
        thread->frames[-1].kind = activity_outside(thread);
    activities_set_depth(thread, thread->depth);
}

void activity_leave_other(struct model *model, struct model_thread *thread, enum activity kind,
                          uint32_t detail, uint64_t arg0, int64_t result)
{
    uint32_t depth = thread->depth;
    struct model_frame *frame;
    if (depth > MODEL_DEPTH_MAX) {
        activities_set_depth(thread, depth - 1);
        return;
    }
    while (depth > 0 && !is_frame(&thread->frames[depth - 1], kind, detail, arg0))
        depth--;
    if (depth == 0) { /* an end without a begin: all that is known is that the activity lasted until now */
        struct model_frame unseen = {.kind = kind,
                                     .detail = detail,
                                     .begin = model->now,
                                     .args = {arg0},
                                     .is_cut = true,
                                     .result = result,
                                     .is_drain = thread->is_draining && !activity_is_interrupt(kind)};
        activities_cut_kinds(model, thread, activity_excludes(kind));
        if (is_in_range(model))
            activity_tell_leave(model, thread, &unseen, model->now);
        return;
    }
    activities_cut(model, thread, depth, model->now);
    frame = &thread->frames[depth - 1];
    frame->detail = detail;
    frame->result = result;
    activity_leave_top(model, thread, model->now);
}
