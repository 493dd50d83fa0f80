/*
 * index_walk.h - walks a trace's events in order, from the index's checkpoint before a block.
 *
 *     walk_open(&walk, trace, index, block);
 *     while ((cursor = walk_next(&walk)) != NULL && cursor->ticks < to)
 *         ... walk.number is the event's ...
 *     walk_close(&walk);
 *
 * walk_open_range is for walks with a model: observers see a range as if the walk had begun with the trace.
 */
#pragma once

#include <tools/tarn/index/index.h>
#include <tools/tarn/model/walk.h>

struct walk {
    struct merge merge;
    uint64_t next;   /* number of the next event */
    uint64_t number; /* number of the event returned last */
};

void walk_open(struct walk *walk, const struct trace *trace, const struct index *index, size_t block);
void walk_close(struct walk *walk);

static inline struct cursor *walk_next(struct walk *walk)
{
    walk->number = walk->next++;
    return merge_next(&walk->merge);
}

/* Which long-lived facts the model gets, as if the walk had begun with the trace. */
enum walk_knowledge { WALK_KNOWS_NOTHING, WALK_KNOWS_LOCKS /* their names */, WALK_KNOWS_ALL };

/* Opens MERGE at the checkpoint before BEGIN, from which MODEL, just opened, continues. REPORTER, or NULL,
 * gets damage and losses from there on. The walk itself does not need the index. */
void walk_open_range(struct model *model, struct merge *merge, const struct index *index, uint64_t begin,
                     enum walk_knowledge knows, struct reporter *reporter);

/* The same with the trace's own index, for commands. If much of a large trace lies before BEGIN, the index is
 * loaded, or made and kept; otherwise the walk begins with the trace. The trace must not grow. */
void walk_open_late(struct model *model, struct merge *merge, uint64_t begin, struct reporter *reporter);
/* Moves a walk on to the last checkpoint before some threads run or change their states. SEGMENTS has the
 * start of the open segment of each of these, by number; 0 for others. False: there is none, or no index. */
bool walk_skip(struct model *model, struct merge *merge, const uint64_t *segments);
