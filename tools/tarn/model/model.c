/* model.c - dispatches events; see model.h. */
#include <tools/tarn/model/model_parts.h>

const char *const model_state_names[MODEL_STATES] = {[MODEL_RUNNING] = "running",
                                                     [MODEL_READY] = "ready",
                                                     [MODEL_BLOCKED_SEND] = "blocked_ipc_send",
                                                     [MODEL_BLOCKED_RECEIVE] = "blocked_ipc_receive",
                                                     [MODEL_BLOCKED_REPLY] = "blocked_reply",
                                                     [MODEL_BLOCKED_NOTIFICATION] = "blocked_notification",
                                                     [MODEL_BLOCKED_FUTEX] = "blocked_futex",
                                                     [MODEL_SLEEPING] = "sleeping",
                                                     [MODEL_BLOCKED_FAULT] = "blocked_fault",
                                                     [MODEL_SUSPENDED] = "suspended",
                                                     [MODEL_DEAD] = "dead",
                                                     [MODEL_UNKNOWN] = "unknown"};

static bool only_scheduling(const struct model *model)
{
    const struct model_observer *observer = model->observers;
    if (model->leaves_out_drain)
        return false; /* calls say which servers work for the drain */
    while (observer != NULL && observer->only_scheduling)
        observer = observer->next;
    return model->observers != NULL && observer == NULL;
}

/* Sets the action of each event type, as observers want. */
static void set_actions(struct model *model)
{
    const struct schema *schema = &model->trace->schema;
    memset(model->actions, 0, schema->event_count * sizeof(model->actions[0]));
    event_bindings_resolve(model, only_scheduling(model));
    for (unsigned i = 0; i < schema->event_count; i++) {
        struct model_action *action = &model->actions[i];
        /* on_switch itself learns the new names in a switch. */
        action->tells_name = model->names.told_by[i] != 0 && action->handle != on_switch;
        action->is_special =
            action->tells_name || schema->events[i]->role == EVENT_CONTEXT || model->wants_events;
    }
}

void model_open(struct model *model, const struct trace *trace, uint64_t from, uint64_t to)
{
    memset(model, 0, sizeof(*model));
    model->trace = trace;
    model->from = from;
    model->to = to;
    model->swap = trace->schema.swap;
    model->counts_from = model->plain_from = from;
    model->stays_period = 1;
    names_open(&model->names, &trace->schema);
    map_open(&model->executables.newest_of, sizeof(struct executable *));
    map_open(&model->executables.all, sizeof(struct executable));
    model->executables.all.limit = EXECUTABLES_MAX;
    map_open(&model->ended, sizeof(const struct model_thread *));
    map_open(&model->processes, sizeof(struct model_process));
    model->processes.limit = MODEL_PROCESSES_MAX;
    model->cpus = alloc_zero(trace->stream_count + 1, sizeof(model->cpus[0]));
    model->dark_cpus = trace->missing_count;
    model->actions = alloc_zero(trace->schema.event_count + 1, sizeof(model->actions[0]));
    model->limits = alloc_zero(trace->schema.event_count + 1, sizeof(model->limits[0]));
    model->place_count = 256;
    model->places = alloc_zero(model->place_count, sizeof(model->places[0]));
    set_actions(model);
    model->number_receive = (uint32_t)field_label_value(model_detail_field(&trace->schema, ACTIVITY_SYSCALL),
                                                        "ipc_receive", UINT32_MAX);
}

void model_observe(struct model *model, struct model_observer *observer)
{
    struct model_observer **last = &model->observers;
    while (*last != NULL)
        last = &(*last)->next;
    *last = observer;
    observer->next = NULL;
    model->wants_segments |= observer->segment != NULL;
    model->wants_stays |= observer->state_interval != NULL;
    model->wants_switches |= observer->switched != NULL;
    model->wants_wakeups |= observer->wakeup != NULL;
    model->wants_events |= observer->event != NULL;
    model->wants_activities |= observer->enter != NULL || observer->leave != NULL;
    set_actions(model);
}

void model_begin_range(struct model *model)
{
    if (!only_scheduling(model))
        return;
    for (struct model_thread *thread = model->live; thread != NULL; thread = thread->next)
        activities_set_depth(thread, 0);
}

static void tell_event(struct model *model, const struct cursor *cursor, const struct model_thread *thread)
{
    if (!is_in_range(model))
        return;
    if (model->leaves_out_drain && model_is_drain_event(model, cursor))
        model->left_out.events++;
    else
        TELL_OBSERVERS(model, event, cursor, thread);
}

struct model_thread *model_apply_known(struct model *model, const struct cursor *cursor)
{
    struct model_cpu *cpu = &model->cpus[cursor->rank];
    const struct model_action *action = &model->actions[cursor->event.type->index];
    struct model_thread *thread;
    model->now = cursor->ticks > model->now ? cursor->ticks : model->now;
    if (cpu->thread == NULL || cursor->event.type->role == EVENT_CONTEXT)
        begin_packet(model, cpu, cursor);
    thread = cpu->thread;
    if (model->wants_events)
        tell_event(model, cursor, thread);
    if (action->tells_name)
        names_learn_from(&model->names, &cursor->event);
    if (action->handle != NULL)
        action->handle(model, cpu, &cursor->event, action);
    if (model->subtracts_costs)
        subtract_cost(model, cpu->thread, cursor->event.type);
    cpu->last = cursor->ticks;
    return thread;
}

void model_finish(struct model *model)
{
    uint64_t end = 0;
    for (unsigned i = 0; i < model->trace->stream_count; i++) {
        struct model_cpu *cpu = &model->cpus[i];
        uint64_t last = cpu->packet_end > cpu->last ? cpu->packet_end : cpu->last;
        if (cpu->thread == NULL)
            continue;
        if (cpu->thread != model->nobody && cpu->thread->segment > last)
            last = cpu->thread->segment; /* events of other CPUs referred to it later */
        last = last < model->to ? last : model->to;
        end = end > last ? end : last;
        count_time(model, cpu, last);
        if (cpu->thread != model->nobody) {
            activities_cut(model, cpu->thread, 0, last);
            close_segment(model, cpu->thread, last);
            end_stay(model, cpu->thread);
            cpu->thread->end = cpu->thread->segment;
        }
    }
    for (struct model_thread *thread = model->live; thread != NULL; thread = thread->next) {
        if (thread->state == MODEL_RUNNING)
            continue;
        activities_cut(model, thread, 0, end);
        close_segment(model, thread, end);
        end_stay(model, thread);
        thread->end = thread->segment;
    }
}

void model_close(struct model *model)
{
    for (uint32_t i = 0; i < model->thread_capacity; i++)
        if (model->threads[i] != NULL)
            activities_free(model->threads[i]);
    names_close(&model->names);
    map_close(&model->executables.newest_of);
    map_close(&model->executables.all);
    map_close(&model->processes);
    map_close(&model->ended);
    free(model->cpus);
    free(model->actions);
    free(model->limits);
    free(model->subjects);
    free(model->threads);
    free(model->places);
    arena_free(&model->arena);
}
