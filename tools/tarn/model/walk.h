/*
 * walk.h - walks a range of time; defines what is in a range.
 *
 * The range of a model is FROM <= t < TO (ticks). Observers get the events in it. Activities and
 * segments are clipped to the range: an activity that begins before or ends after it is cut (is_cut).
 * So times of adjacent ranges add up to those of the whole; numbers of activities do so except for those cut
 * between two ranges, which count in both.
 *
 * At TO everything is as after the last event before TO, except for a CPU whose state is then unknown,
 * because its events continue after a gap or not at all.
 */
#pragma once

#include <tools/tarn/model/model.h>
#include <tools/tarn/read/order.h>

/* Tells the model of events that are missing behind the last one of CURSOR's CPU: CURSOR has moved to the
 * next. */
void walk_look_ahead(struct model *model, const struct cursor *cursor);
/* The same for all CPUs, before the first event. */
void walk_begin(struct model *model, const struct merge *merge);

/* Takes the event of CURSOR, at which MERGE stands; returns merge_next. If possible, the merge advances
 * first: the indirect call to the event's handler is unpredictable, and the merge fills the time of the
 * misprediction. */
static inline struct cursor *model_apply_next(struct model *model, struct merge *merge, struct cursor *cursor)
{
    struct model_cpu *cpu = &model->cpus[cursor->rank];
    const struct model_action *action = &model->actions[cursor->event.type->index];
    struct event event = cursor->event;
    uint64_t ticks = cursor->ticks;
    struct cursor *next = model_is_special(cpu, action) ? NULL : merge_step(merge, cursor);
    if (__builtin_expect(next == NULL, 0)) {
        struct cursor *moved = cursor;
        model_apply(model, moved);
        cursor = merge_next(merge);
        walk_look_ahead(model, moved);
        return cursor;
    }
    model_apply_plain(model, cpu, action, &event, ticks);
    return next;
}

/* Takes all events of MERGE before model->to. MERGE then stands at the first later event. */
void model_walk(struct model *model, struct merge *merge);

/* The same, once all observers are set, and finishes the range. GOES_ON, or NULL, is called now and then: if
 * it returns false, the walk stops with false, and the range is not finished. */
bool model_walk_range(struct model *model, struct merge *merge, bool (*goes_on)(void *owner), void *owner);

/* Ends the range as model_finish ends a trace, although packets continue. All events before
 * model->to have been taken, and MERGE stands at the next. */
void model_finish_range(struct model *model, const struct merge *merge);

/* Returns the time up to which a CPU's activity is known, at most END. All events before END have been taken.
 * For a CPU without further events, or with a gap before the next, that is the end of its last packet. */
uint64_t walk_limit(const struct merge *merge, const struct model *model, uint32_t rank, uint64_t end);
