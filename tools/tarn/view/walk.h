/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/view/walk.h - the events of a trace in order, from the index's checkpoint before some block on.
 *
 *     walk_open(&walk, trace, index, block);
 *     while ((cursor = walk_next(&walk)) != NULL && cursor_ns(cursor) < to)
 *         ... walk.number is the event's ...
 *     walk_close(&walk);
 */
#ifndef TARN_WALK_H
#define TARN_WALK_H

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

#endif
