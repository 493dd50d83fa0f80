/*
 * on_state.c - handlers of events about processes, of the statedump, and of changes of what is traced; see
 * model_parts.h.
 */
#include <stdio.h>
#include <tools/tarn/model/model_parts.h>

EVENT_HANDLER(on_process_create)
{
    struct model_process *process = process_know(model, GET32(0));
    if (process == NULL)
        return;
    process->was_created = true;
    process->parent = GET32(1);
}

EVENT_HANDLER(on_process_exec)
{
    struct model_process *process = process_know(model, GET32(0));
    size_t length = GET_LENGTH(1);
    const char *path = GET_TEXT(1);
    if (process == NULL || (process->path != NULL && strlen(process->path) == length &&
                            memcmp(process->path, path, length) == 0))
        return;
    process->path = arena_string(&model->arena, path, length);
}

/* Its exit event may have been lost. A process ends after all its threads have: if one is left, its end was
 * lost. */
EVENT_HANDLER(on_process_free)
{
    struct model_process *process = process_know(model, GET32(0));
    struct model_thread *next;
    if (process == NULL)
        return;
    if (!process->has_ended) {
        process->has_ended = true;
        process->end = model->now;
    }
    for (struct model_thread *thread = model->live; process->living != 0 && thread != NULL; thread = next) {
        next = thread->next;
        if (thread->pid != process->pid || thread->is_idle)
            continue;
        if (thread->state == MODEL_RUNNING)
            lose_processor(model, &model->cpus[thread->cpu], model->now);
        thread_end(model, thread);
    }
}

EVENT_HANDLER(on_process_exit)
{
    struct model_process *process = process_know(model, GET32(0));
    if (process != NULL && !process->has_ended)
        process->status = (int32_t)GET32(1);
    on_process_free(model, cpu, event, action);
}

EVENT_HANDLER(on_process_rename)
{
    /* names are learned elsewhere (tells_name) */
    process_know(model, GET32(0));
}

EVENT_HANDLER(on_state_process)
{
    struct model_process *process = process_know(model, GET32(0));
    if (process != NULL)
        process->parent = GET32(1);
}

enum { THREAD_TID, THREAD_PID, THREAD_STATE, THREAD_PRIO, THREAD_CPU, THREAD_COMM };

/* Statedump: read while the system was running, so other events are more exact. */
EVENT_HANDLER(on_state_thread)
{
    uint32_t tid = GET32(THREAD_TID);
    uint32_t state = MODEL_STATE_OF(GET32(THREAD_STATE));
    unsigned rank = trace_find_cpu(model->trace, GET16(THREAD_CPU));
    struct model_thread *thread;
    if (tid == 0 || state >= MODEL_DEAD)
        return;
    thread = thread_know(model, tid, GET32(THREAD_PID), GET_TEXT(THREAD_COMM),
                         rank < model->trace->stream_count ? rank : 0, model->now);
    if (thread == model->nobody || thread->state != MODEL_UNKNOWN)
        return;
    thread->prio = GET16(THREAD_PRIO);
    if (state != MODEL_RUNNING)
        set_state(model, thread, (enum model_state)state, model->now);
}

EVENT_HANDLER(on_state_image)
{
    struct executable executable = {.pid = GET32(0), .base = GET64(1), .size = GET64(2)};
    uint64_t id[2] = {GET64(3), GET64(4)};
    for (unsigned i = 0; i < sizeof(executable.build_id); i++)
        executable.build_id[i] = (uint8_t)(id[i / 8] >> (56 - i % 8 * 8));
    executables_add(&model->executables, &executable, GET_TEXT(5), GET_LENGTH(5));
}

EVENT_HANDLER(on_state_irq)
{
    names_set(&model->names, NAMES_OF_IRQS, GET32(0), GET_TEXT(1), GET_LENGTH(1));
}

/* TEXT is the unit of the period: the clock has no counter. */
EVENT_HANDLER(on_sampling)
{
    struct model_sampling *sampling = &model->sampling;
    const char *text = GET_TEXT(2);
    size_t length = GET_LENGTH(2);
    sampling->period = GET64(0);
    sampling->counts_instructions |= GET32(1) != 0;
    if (length == strlen("ticks") && memcmp(text, "ticks", length) == 0)
        length = 0;
    /* after the end of sampling, samples from before still have that counter */
    if (sampling->period != 0)
        snprintf(sampling->counter, sizeof(sampling->counter), "%.*s", (int)length, text);
    model->has_news = true;
}

const struct event_type *limited_type(const struct model *model, const struct event *event,
                                      const struct model_action *action)
{
    const uint32_t class = GET32(0), minor = GET32(1);
    return class < TRACE_CLASS_COUNT && minor <= UINT16_MAX
               ? schema_event(&model->trace->schema, TRACE_ID(class, minor))
               : NULL;
}

EVENT_HANDLER(on_event_sampling)
{
    const struct event_type *type = limited_type(model, event, action);
    if (type != NULL)
        model->limits[type->index].every = GET32(2);
    model->has_news = true;
}

EVENT_HANDLER(on_event_threshold)
{
    const struct event_type *type = limited_type(model, event, action);
    if (type != NULL)
        model->limits[type->index].threshold = GET32(2);
    model->has_news = true;
}

EVENT_HANDLER(on_state_lock_class)
{
    uint32_t number = GET32(0);
    struct model_lock_class class = {.sample_every = GET32(2), .kind = GET32(3)};
    snprintf(class.name, sizeof(class.name), "%.*s", (int)GET_LENGTH(1), GET_TEXT(1));
    if (number < MODEL_LOCK_CLASSES)
        model->lock_classes[number] = class;
    model->has_news = true;
}

EVENT_HANDLER(on_lock_name)
{
    if (GET32(1) != 0)
        names_set(&model->names, GET32(1), GET64(0), GET_TEXT(2), GET_LENGTH(2));
}

/* Switches are off in this moment, or were until now: any thread may run. */
static void forget_running(struct model *model)
{
    for (unsigned i = 0; i < model->trace->stream_count; i++)
        if (model->cpus[i].thread != NULL) {
            lose_processor(model, &model->cpus[i], model->now);
            forget_states(model, &model->cpus[i], model->now);
        }
}

EVENT_HANDLER(on_switches)
{
    const struct event_type *switched = model->trace->schema.known.switched;
    uint64_t changed = GET64(1) ^ GET64(2);
    if (switched != NULL && GET32(0) == TRACE_ID_CLASS(switched->id) &&
        changed >> TRACE_ID_MINOR(switched->id) % TRACE_MINORS_SWITCHED & 1)
        forget_running(model);
}

/* Classes were disabled: the ends of their activities will not be seen. */
EVENT_HANDLER(on_control)
{
    static const uint8_t classes[ACTIVITIES] = {
        [ACTIVITY_LIBC] = 16, [ACTIVITY_SYSCALL] = 3, [ACTIVITY_FAULT] = 6,   [ACTIVITY_EXCEPTION] = 4,
        [ACTIVITY_IRQ] = 5,   [ACTIVITY_IPI] = 5,     [ACTIVITY_REQUEST] = 13};
    uint64_t old = GET64(0), mask = GET64(1);
    uint64_t off = old & ~mask;
    if ((old ^ mask) & 1u << 1)
        forget_running(model);
    for (struct model_thread *thread = model->live; off != 0 && thread != NULL; thread = thread->next) {
        for (uint32_t i = 0; i < thread->depth && i < MODEL_DEPTH_MAX; i++)
            if (off >> classes[thread->frames[i].kind] & 1) {
                activities_cut(model, thread, i, model->now);
                thread->is_stack_known = false;
            }
        if (off & 1u << 2) {
            call_abandon(model, thread);
            serving_stop(model, thread);
        }
    }
}
