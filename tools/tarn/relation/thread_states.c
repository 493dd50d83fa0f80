/* SPDX-License-Identifier: BSD-2-Clause */
/* thread_states.c - joins the segments of a thread that are in one state; see relation.h. */
#include <tools/tarn/relation/relation.h>

static void end_state(struct thread_states *states, struct thread_state *interval)
{
    if (interval->thread != NULL && interval->from != interval->to)
        states->take(states, interval);
}

void thread_states_open(struct thread_states *states, struct analysis *analysis,
                        void (*take)(struct thread_states *self, const struct thread_state *interval))
{
    states->analysis = analysis;
    states->take = take;
    analysis_slots(analysis, &states->slots, sizeof(struct thread_state));
}

void thread_states_add(struct thread_states *states, const struct model_thread *thread, uint64_t from,
                       uint64_t to)
{
    bool runs = thread->state == MODEL_RUNNING, is_asleep = runs && model_is_asleep(thread);
    struct thread_state *interval = slots_at(&states->slots, thread->number);

    /* A waiting thread is on no CPU, so a new CPU does not end its interval. */
    if (interval->thread == NULL || interval->state != thread->state || interval->to != from ||
        interval->is_asleep != is_asleep || (interval->cpu != thread->cpu && runs)) {
        end_state(states, interval);
        *interval = (struct thread_state){thread, thread->state, thread->cpu, is_asleep, from, to, 0};
    }
    interval->to = to;
    interval->ticks += model_segment_ticks(thread, from, to);
}

void thread_states_finish(struct thread_states *states)
{
    for (uint32_t i = 0; i < states->slots.count; i++)
        end_state(states, slots_at(&states->slots, i));
}
