/* SPDX-License-Identifier: BSD-2-Clause */
/* stretches.c - joins the segments of a thread that are in one state; see relation.h. */
#include <tools/tarn/relation/relation.h>

static void end_stretch(struct stretches *stretches, struct stretch *stretch)
{
    if (stretch->thread != NULL && stretch->from != stretch->to)
        stretches->take(stretches, stretch);
}

void stretches_open(struct stretches *stretches, struct analysis *analysis,
                    void (*take)(struct stretches *self, const struct stretch *stretch))
{
    stretches->analysis = analysis;
    stretches->take = take;
    analysis_slots(analysis, &stretches->slots, sizeof(struct stretch));
}

void stretches_add(struct stretches *stretches, const struct model_thread *thread, uint64_t from, uint64_t to)
{
    bool runs = thread->state == MODEL_RUNNING, is_asleep = runs && model_is_asleep(thread);
    struct stretch *stretch = slots_at(&stretches->slots, thread->number);

    /* A waiting thread is on no CPU, so a new CPU does not end its stretch. */
    if (stretch->thread == NULL || stretch->state != thread->state || stretch->to != from ||
        stretch->is_asleep != is_asleep || (stretch->cpu != thread->cpu && runs)) {
        end_stretch(stretches, stretch);
        *stretch = (struct stretch){thread, thread->state, thread->cpu, is_asleep, from, to, 0};
    }
    stretch->to = to;
    stretch->ticks += model_segment_ticks(thread, from, to);
}

void stretches_finish(struct stretches *stretches)
{
    for (uint32_t i = 0; i < stretches->slots.count; i++)
        end_stretch(stretches, slots_at(&stretches->slots, i));
}
