/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/view/walk.h - the events of a trace in order, from the index's checkpoint before some block on.
 *
 *     walk_open(&walk, trace, index, block);
 *     while ((cursor = walk_next(&walk)) != NULL && cursor->ticks < to)
 *         ... walk.number is the event's ...
 *     walk_close(&walk);
 *
 * walk_range does it with the model, so that observers see a range as if the walk had begun with the trace.
 */
#ifndef TARN_WALK_H
#define TARN_WALK_H

#include <tools/tarn/model/walk.h>
#include <tools/tarn/view/index.h>

struct walk {
    struct merge merge;
    uint64_t next;   /* number of the event that comes */
    uint64_t number; /* of the event that was given last */
};

void walk_open(struct walk *walk, const struct trace *trace, const struct index *index, size_t block);
void walk_close(struct walk *walk);

static inline struct cursor *walk_next(struct walk *walk)
{
    walk->number = walk->next++;
    return merge_next(&walk->merge);
}

/* What the model knows besides what threads and processors are doing, as if it had come from the trace's
 * begin. */
enum walk_knowledge { WALK_KNOWS_NOTHING, WALK_KNOWS_LOCKS /* their names */, WALK_KNOWS_ALL };

/* Who wants to see a range, FROM <= ticks < TO. */
struct walk_range {
    uint64_t from, to;
    struct model_observer *observer; /* NULL: begin sees to it */
    struct reporter *reporter;       /* of damage and losses from the checkpoint on; or NULL */
    /* The model is as it was at the checkpoint; false: no walk. NULL: nothing to do. */
    bool (*begin)(struct walk_range *range, struct model *model, struct fail *fail);
    /* Every event of the range, before the model takes it; NULL: none. */
    void (*event)(struct walk_range *range, const struct cursor *cursor, const struct model *model);
    /* All events have been taken, the model's segments are still open: they reach up to these limits, those
     * of threads that do not run up to `to`. NULL: nothing to do. */
    void (*end)(struct walk_range *range, const struct model *model, const uint64_t *limits);
    void (*finished)(
        struct walk_range *range); /* after model_finish, model still there; NULL: nothing to do */
    /* Now and then, with how many events have come; false: stop, nobody waits any more. NULL: goes on. */
    bool (*go_on)(struct walk_range *range, uint64_t events);
    enum walk_knowledge knows;
};

/* The observer's functions are called for what lies in the range, and as walk.h of the model says for its
 * end. */
bool walk_range(struct walk_range *range, const struct trace *trace, const struct index *index,
                struct fail *fail);

/* The same in two steps: only the first one needs the index. The model is the caller's, to be closed after
 * the walk. */
struct range_walk {
    struct walk walk;
    struct model *model;
};
void range_walk_open(struct range_walk *walk, struct model *model, const struct walk_range *range,
                     const struct trace *trace, const struct index *index);
bool range_walk_run(struct range_walk *walk, struct walk_range *range, struct fail *fail);
void range_walk_close(struct range_walk *walk);

#endif
