/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/model/walk.h - a range of time: what counts as in it, for all who ask.
 *
 * The range of a model is FROM <= t < TO (ticks). Events in it are told. Of what takes time, the part in it
 * is told: an activity that begins before, or goes on after, is cut there (is_cut). So times of the parts of
 * a range add up to those of the whole; numbers of activities do so but for those cut between two parts, of
 * which each part has one.
 *
 * At TO everything is as it was after the last event before, but for a processor of which nothing is known
 * then: its events go on after a gap, or not at all.
 */
#ifndef TARN_MODEL_WALK_H
#define TARN_MODEL_WALK_H

#include <tools/tarn/model/model.h>
#include <tools/tarn/read/order.h>

/* Takes the event of CURSOR, at which MERGE stands; returns merge_next. The merge goes on before the event is
 * taken, where it can: nothing foretells which function the event needs, and the time in which the machine
 * waits for that is enough to find out whose event is next. */
static inline struct cursor *model_take_next(struct model *model, struct merge *merge, struct cursor *cursor)
{
    struct model_cpu *cpu = &model->cpus[cursor->rank];
    const struct model_action *action = &model->actions[cursor->event.type->index];
    struct event event = cursor->event;
    uint64_t ticks = cursor->ticks;
    struct cursor *next = model_is_special(cpu, action) ? NULL : merge_step(merge, cursor);

    if (__builtin_expect(next == NULL, 0)) {
        model_take(model, cursor);
        return merge_next(merge);
    }
    model_take_plain(model, cpu, action, &event, ticks);
    return next;
}

/* Takes all events of MERGE before model->to. It stands at the first one that comes later. */
void model_walk(struct model *model, struct merge *merge);

/* Ends the range: model_finish, as if the trace ended there though no packet does. All events before
 * model->to have been taken, MERGE stands at the next. */
void model_finish_range(struct model *model, const struct merge *merge);

/* Until when, up to END, it is known what each processor does, by rank, given that all events before END have
 * been taken: of one that logged nothing more, or nothing before a gap, up to the end of its last packet. */
void walk_limits(const struct merge *merge, const struct model *model, uint64_t end, uint64_t *limits);

#endif
