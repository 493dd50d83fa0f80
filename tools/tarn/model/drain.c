/*
 * drain.c - leaves out what the drain causes, and subtracted time; see model.h.
 *
 * A drain is a thread of the guest's trace server that sends packets to a host. It marks the rounds in which
 * it sends (trace/schema/trace.ev). Between them it only waits for packets, so everything from its first mark
 * to its last is the drain's. What a server does for a call of a draining thread is the drain's, too.
 *
 * After lost events it is unknown whether a thread still drains, until its next mark.
 *
 * What logging cost (`trace bench` in the guest) is subtracted from the time of threads. The clock is read
 * early in the logging path (trace/ring/restart.h), so most of an event's cost comes after its time. So it
 * delays the thread that runs after the event, and the clients that wait for that thread.
 */
#include <tools/tarn/model/activities.h>

#define CLIENTS_MAX 16u /* a bound, should damaged events make calls go round */

/* Events of the classes sched and timer are about one thread, which need not be the one that runs. */
static uint16_t find_subject(const struct schema *schema, const struct event_type *type)
{
    const char *class = schema->classes[TRACE_ID_CLASS(type->id)].name;
    const struct field *tid = schema_find_field(type, "tid");
    if (strcmp(class, "sched") != 0 && strcmp(class, "timer") != 0)
        return 0;
    tid = tid != NULL ? tid : schema_find_field(type, "next_tid");
    return tid != NULL && tid->width == 4 && tid->swap == schema->swap ? (uint16_t)tid->offset : 0;
}

void model_leave_out_drain(struct model *model)
{
    const struct schema *schema = &model->trace->schema;
    model->subjects = alloc_zero(schema->event_count + 1, sizeof(model->subjects[0]));
    for (unsigned i = 0; i < schema->event_count; i++)
        model->subjects[i] = find_subject(schema, schema->events[i]);
    model->leaves_out_drain = true;
    model->plain_from = UINT64_MAX;
    model->wants_segments = true;                         /* for count_segment */
    model->wants_events = model->wants_activities = true; /* to count those left out */
}

bool model_is_left_out(const struct model *model, const struct model_thread *thread)
{
    return model->leaves_out_drain && thread->is_draining && !is_interrupted(thread);
}

void set_drains(struct model_thread *thread, bool drains)
{
    thread->drains = drains;
    set_serving(thread, thread->serving);
}

/* The server has not begun to work on the call that it receives. */
static bool receives_drain_call(const struct model *model, const struct model_action *action,
                                const struct cursor *cursor)
{
    const struct model_thread *client =
        thread_find(model, get32(model, &cursor->event, action->at[1]), cursor->rank);
    return client != NULL && client->calling != NULL && client->call.is_drain &&
           client->call.id == get64(model, &cursor->event, action->at[0]);
}

static bool is_about_drain(const struct model *model, const struct cursor *cursor)
{
    uint16_t at = model->subjects != NULL ? model->subjects[cursor->event.type->index] : 0;
    const struct model_thread *thread =
        at != 0 ? thread_find(model, get32(model, &cursor->event, at), cursor->rank) : NULL;
    return thread != NULL && model_is_left_out(model, thread);
}

bool model_is_drain_event(const struct model *model, const struct cursor *cursor)
{
    const struct model_thread *thread = model->cpus[cursor->rank].thread;
    const struct model_action *action = &model->actions[cursor->event.type->index];
    model_handler *handle = action->handle;
    if (handle == on_drain_begin || handle == on_drain_end || is_about_drain(model, cursor))
        return true;
    if (handle == on_irq_entry || handle == on_ipi_entry || handle == on_timer_entry || thread == NULL ||
        model->cpus[cursor->rank].in_timer)
        return false;
    return model_is_left_out(model, thread) ||
           (handle == on_receive && receives_drain_call(model, action, cursor));
}

EVENT_HANDLER(on_drain_begin)
{
    struct model_thread *thread = get_thread(model, cpu, GET32(0));
    if (thread == NULL)
        return;
    close_segment(model, thread, model->now);
    set_drains(thread, true);
    activity_enter(model, thread, ACTIVITY_DRAIN, UINT32_MAX, GET32(1), 0);
}

EVENT_HANDLER(on_timer_entry)
{
    cpu->in_timer = true;
}

EVENT_HANDLER(on_timer_exit)
{
    cpu->in_timer = false;
}

static bool is_in_round(const struct model_thread *thread)
{
    uint32_t depth = thread->depth <= MODEL_DEPTH_MAX ? thread->depth : MODEL_DEPTH_MAX;
    while (depth > 0 && thread->frames[depth - 1].kind != ACTIVITY_DRAIN)
        depth--;
    return depth > 0;
}

/* The last mark may come between rounds. Without an earlier mark, a round has begun before the trace. */
EVENT_HANDLER(on_drain_end)
{
    struct model_thread *thread = get_thread(model, cpu, GET32(0));
    if (thread == NULL)
        return;
    close_segment(model, thread, model->now);
    if (is_in_round(thread) || !thread->drains) {
        set_drains(thread, true);
        activity_leave(model, thread, ACTIVITY_DRAIN, UINT32_MAX, 0, 0);
    }
    set_drains(thread, GET32(1) == 0);
}

bool count_segment(struct model *model, struct model_thread *thread, uint64_t from, uint64_t to)
{
    uint64_t rest = thread->uncounted - thread->deducted;
    if (thread->segment == thread->since)
        thread->state_deducted = thread->deducted;
    thread->segment_deducted = 0;
    if (model_leaves_out(model, thread)) {
        *(thread->state == MODEL_RUNNING ? &model->cpus[thread->cpu].drained : &model->left_out.waited) +=
            to - from;
        thread->uncounted += to - from;
        thread->deducted = thread->uncounted;
        return false;
    }
    thread->segment_deducted = rest < to - from ? rest : to - from; /* the next segment lacks the rest */
    thread->deducted += thread->segment_deducted;
    return true;
}

void model_subtract_costs(struct model *model)
{
    model->subtracts_costs = true;
    model->plain_from = UINT64_MAX;
    model->wants_segments = true; /* for count_segment */
    model->wants_events = true;   /* for subtract_cost */
}

/* Returns the whole ticks. */
static uint64_t delay_thread(struct model_thread *thread, uint32_t cost)
{
    uint64_t all = (uint64_t)thread->cost_rest + cost;
    thread->cost_rest = (uint32_t)(all % 1000);
    thread->uncounted += all / 1000;
    return all / 1000;
}

/* The drain's time does not count anyway. */
void subtract_cost(struct model *model, struct model_thread *thread, const struct event_type *type)
{
    uint32_t cost = type->cost_ticks[1];
    if (!is_in_range(model) || thread == NULL || model_leaves_out(model, thread))
        return;
    model->subtracted.without += cost == 0;
    model->subtracted.events += cost != 0;
    if (cost == 0 || thread == model->nobody || model_is_asleep(thread))
        return;
    model->subtracted.ticks += delay_thread(thread, cost);
    for (unsigned i = 0; i < CLIENTS_MAX && thread->serving != NULL; i++) {
        thread = thread->serving->client;
        delay_thread(thread, cost);
    }
}
