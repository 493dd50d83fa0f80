/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * costs.c - subtracts what logging cost (`trace bench` in the guest) from the time of threads; see model.h.
 *
 * The clock is read early in the logging path (trace/ring/restart.h), so most of an event's cost comes after
 * its time. So it delays the thread that runs after the event, and the clients that wait for that thread.
 */
#include <tools/tarn/model/model_parts.h>

#define CLIENTS_MAX 16u /* a bound, should damaged events make calls go round */

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
