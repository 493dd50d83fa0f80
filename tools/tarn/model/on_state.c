/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * on_state.c - handlers of events about processes, of the statedump, and of changes of what is traced; see
 * model_parts.h.
 */
#include <string.h>
#include <tools/tarn/model/model_parts.h>

void on_process_create(struct model *model, struct model_cpu *cpu, const struct event *event,
                       const struct model_action *action)
{
    struct model_process *process = process_know(model, get32(model, event, action->at[0]));

    if (process == NULL)
        return;
    process->was_created = true;
    process->parent = get32(model, event, action->at[1]);
}

void on_process_exec(struct model *model, struct model_cpu *cpu, const struct event *event,
                     const struct model_action *action)
{
    struct model_process *process = process_know(model, get32(model, event, action->at[0]));
    size_t length = text_length(event, action->at[1]);
    const char *path = get_text(event, action->at[1]);

    if (process == NULL || (process->path != NULL && strlen(process->path) == length &&
                            memcmp(process->path, path, length) == 0))
        return;
    process->path = arena_string(&model->arena, path, length);
}

/* A process ends after all its threads have. If one is left, its end was lost. */
static void end_threads(struct model *model, const struct model_process *process)
{
    struct model_thread *next;

    for (struct model_thread *thread = model->live; process->living != 0 && thread != NULL; thread = next) {
        next = thread->next;
        if (thread->pid != process->pid || thread->is_idle)
            continue;
        if (thread->state == MODEL_RUNNING)
            lose_processor(model, &model->cpus[thread->cpu], model->now);
        thread_end(model, thread);
    }
}

/* Its exit event may have been lost. */
void on_process_free(struct model *model, struct model_cpu *cpu, const struct event *event,
                     const struct model_action *action)
{
    struct model_process *process = process_know(model, get32(model, event, action->at[0]));

    if (process == NULL)
        return;
    if (!process->has_ended) {
        process->has_ended = true;
        process->end = model->now;
    }
    end_threads(model, process);
}

void on_process_exit(struct model *model, struct model_cpu *cpu, const struct event *event,
                     const struct model_action *action)
{
    struct model_process *process = process_know(model, get32(model, event, action->at[0]));

    if (process != NULL && !process->has_ended)
        process->status = (int32_t)get32(model, event, action->at[1]);
    on_process_free(model, cpu, event, action);
}

void on_process_rename(struct model *model, struct model_cpu *cpu, const struct event *event,
                       const struct model_action *action)
{
    /* names are learned elsewhere (tells_name) */
    process_know(model, get32(model, event, action->at[0]));
}

void on_state_process(struct model *model, struct model_cpu *cpu, const struct event *event,
                      const struct model_action *action)
{
    struct model_process *process = process_know(model, get32(model, event, action->at[0]));

    if (process != NULL)
        process->parent = get32(model, event, action->at[1]);
}

enum { THREAD_TID, THREAD_PID, THREAD_STATE, THREAD_PRIO, THREAD_CPU, THREAD_COMM };

/* Statedump: read while the system was running, so other events are more exact. */
void on_state_thread(struct model *model, struct model_cpu *cpu, const struct event *event,
                     const struct model_action *action)
{
    uint32_t tid = get32(model, event, action->at[THREAD_TID]);
    uint32_t state = MODEL_STATE_OF(get32(model, event, action->at[THREAD_STATE]));
    unsigned rank = trace_find_cpu(model->trace, get16(model, event, action->at[THREAD_CPU]));
    struct model_thread *thread;

    if (tid == 0 || state >= MODEL_DEAD)
        return;
    thread = thread_know(model, tid, get32(model, event, action->at[THREAD_PID]),
                         get_text(event, action->at[THREAD_COMM]),
                         rank < model->trace->stream_count ? rank : 0, model->now);
    if (thread == model->nobody || thread->state != MODEL_UNKNOWN)
        return;
    thread->prio = get16(model, event, action->at[THREAD_PRIO]);
    if (state != MODEL_RUNNING)
        set_state(model, thread, (enum model_state)state, model->now);
}

void on_state_image(struct model *model, struct model_cpu *cpu, const struct event *event,
                    const struct model_action *action)
{
    struct executable executable = {.pid = get32(model, event, action->at[0]),
                                    .base = get64(model, event, action->at[1]),
                                    .size = get64(model, event, action->at[2])};
    uint64_t id[2] = {get64(model, event, action->at[3]), get64(model, event, action->at[4])};

    for (unsigned i = 0; i < sizeof(executable.build_id); i++)
        executable.build_id[i] = (uint8_t)(id[i / 8] >> (56 - i % 8 * 8));
    executables_add(&model->executables, &executable, get_text(event, action->at[5]),
                    text_length(event, action->at[5]));
}

const char *model_irq_name(const struct model *model, uint32_t number)
{
    for (uint32_t i = 0; i < model->irq_count; i++)
        if (model->irqs[i].number == number)
            return model->irqs[i].name;
    return NULL;
}

void model_name_irq(struct model *model, uint32_t number, const char *name, size_t length)
{
    struct model_irq *irq = model->irqs;

    while (irq < model->irqs + model->irq_count && irq->number != number)
        irq++;
    if (irq == model->irqs + MODEL_IRQS)
        return;
    if (irq == model->irqs + model->irq_count)
        model->irq_count++;
    length = length < sizeof(irq->name) ? length : sizeof(irq->name) - 1;
    *irq = (struct model_irq){.number = number};
    memcpy(irq->name, name, length);
    model->has_news = true;
}

void on_state_irq(struct model *model, struct model_cpu *cpu, const struct event *event,
                  const struct model_action *action)
{
    model_name_irq(model, get32(model, event, action->at[0]), get_text(event, action->at[1]),
                   text_length(event, action->at[1]));
}

/* NAME is the unit of the period: the clock has no counter. */
void model_set_sampling_counter(struct model *model, const char *name, size_t length)
{
    struct model_sampling *sampling = &model->sampling;

    if (length == strlen("ticks") && memcmp(name, "ticks", length) == 0)
        length = 0;
    length = length < sizeof(sampling->counter) ? length : sizeof(sampling->counter) - 1;
    memcpy(sampling->counter, name, length);
    sampling->counter[length] = '\0';
}

void on_sampling(struct model *model, struct model_cpu *cpu, const struct event *event,
                 const struct model_action *action)
{
    model->sampling.period = get64(model, event, action->at[0]);
    model->sampling.counts_instructions |= get32(model, event, action->at[1]) != 0;
    /* after the end of sampling, samples from before still have that counter */
    if (model->sampling.period != 0)
        model_set_sampling_counter(model, get_text(event, action->at[2]), text_length(event, action->at[2]));
    model->has_news = true;
}

const struct event_type *limited_type(const struct model *model, const struct event *event,
                                      const struct model_action *action)
{
    const uint32_t class = get32(model, event, action->at[0]), minor = get32(model, event, action->at[1]);

    return class < TRACE_CLASS_COUNT && minor <= UINT16_MAX
               ? schema_event(&model->trace->schema, TRACE_ID(class, minor))
               : NULL;
}

void on_event_sampling(struct model *model, struct model_cpu *cpu, const struct event *event,
                       const struct model_action *action)
{
    const struct event_type *type = limited_type(model, event, action);

    if (type != NULL)
        model->limits[type->index].every = get32(model, event, action->at[2]);
}

void on_event_threshold(struct model *model, struct model_cpu *cpu, const struct event *event,
                        const struct model_action *action)
{
    const struct event_type *type = limited_type(model, event, action);

    if (type != NULL)
        model->limits[type->index].threshold = get32(model, event, action->at[2]);
}

void on_state_lock_class(struct model *model, struct model_cpu *cpu, const struct event *event,
                         const struct model_action *action)
{
    uint32_t number = get32(model, event, action->at[0]);
    size_t length = text_length(event, action->at[1]);
    struct model_lock_class class = {.sample_every = get32(model, event, action->at[2]),
                                     .kind = get32(model, event, action->at[3])};

    length = length < sizeof(class.name) ? length : sizeof(class.name) - 1;
    memcpy(class.name, get_text(event, action->at[1]), length);
    if (number < MODEL_LOCK_CLASSES)
        model->lock_classes[number] = class;
}

void on_lock_name(struct model *model, struct model_cpu *cpu, const struct event *event,
                  const struct model_action *action)
{
    lock_names_set(&model->lock_names, get32(model, event, action->at[1]), get64(model, event, action->at[0]),
                   get_text(event, action->at[2]), text_length(event, action->at[2]));
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

void on_switches(struct model *model, struct model_cpu *cpu, const struct event *event,
                 const struct model_action *action)
{
    const struct event_type *switched = model->trace->schema.known.switched;
    uint64_t changed = get64(model, event, action->at[1]) ^ get64(model, event, action->at[2]);

    if (switched != NULL && get32(model, event, action->at[0]) == TRACE_ID_CLASS(switched->id) &&
        changed >> TRACE_ID_MINOR(switched->id) % TRACE_MINORS_SWITCHED & 1)
        forget_running(model);
}

/* Classes were disabled: the ends of their activities will not be seen. */
void on_control(struct model *model, struct model_cpu *cpu, const struct event *event,
                const struct model_action *action)
{
    static const uint8_t classes[ACTIVITIES] = {
        [ACTIVITY_LIBC] = 16, [ACTIVITY_SYSCALL] = 3, [ACTIVITY_FAULT] = 6,   [ACTIVITY_EXCEPTION] = 4,
        [ACTIVITY_IRQ] = 5,   [ACTIVITY_IPI] = 5,     [ACTIVITY_REQUEST] = 13};
    enum { IMPLIES = 1 << 1 | 1 << 2 }; /* sched and ipc tell the ends of implied system calls */
    uint64_t old = get64(model, event, action->at[0]), mask = get64(model, event, action->at[1]);
    uint64_t off = old & ~mask;

    if ((old ^ mask) & 1u << 1)
        forget_running(model);
    for (struct model_thread *thread = model->live; off != 0 && thread != NULL; thread = thread->next) {
        for (uint32_t i = 0; i < thread->depth && i < MODEL_DEPTH_MAX; i++)
            if (off >> classes[thread->frames[i].kind] & 1 ||
                (thread->frames[i].is_implied && off & IMPLIES)) {
                activities_cut(model, thread, i, model->now);
                thread->is_stack_known = false;
            }
        if (off & 1u << 2) {
            call_abandon(model, thread);
            serving_stop(model, thread);
        }
    }
}
