/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/read/order.h - stage "order": the events of all processors as one sequence.
 *
 * One cursor per stream, sorted by time in nanoseconds, then by the streams' names: just the order of
 * babeltrace2, which merges in nanoseconds whatever the clock's frequency. The first cursor goes on without a
 * look at the others until its ticks come near those of the second: nanoseconds grow with ticks, and they
 * need to be computed only where both might be in the same one. Memory is one packet per stream.
 */
#ifndef TARN_ORDER_H
#define TARN_ORDER_H

#include <tools/tarn/read/decode.h>

struct merge_place {
    int64_t ns; /* of the cursor; of the first, not kept */
    struct cursor *cursor;
};

struct merge {
    const struct trace *trace;
    struct cursor *cursors;
    struct merge_place *order;
    unsigned count;       /* cursors in order */
    struct cursor *first; /* of them; NULL before the first event and at the end */
    uint64_t limit;       /* the first cursor stays the first while its ticks are below */
    /* how far below the second's ticks the limit lies; there is none for ticks from ticks_max on */
    double margin, margin_growth;
    uint64_t ticks_max;
};

/* Streams for which WANTED is false are left out; NULL wants all. */
void merge_open(struct merge *merge, const struct trace *trace, const bool *wanted, uint64_t from,
                struct reporter *reporter);
/* Slow paths of merge_next. No cursor was chosen yet; the first is at its end; it came near the second. */
struct cursor *merge_start(struct merge *merge);
struct cursor *merge_leave(struct merge *merge);
struct cursor *merge_choose(struct merge *merge);
/* The cursor that stands at the next event, or NULL at the end. Valid until the next call. */
static inline struct cursor *merge_next(struct merge *merge)
{
    struct cursor *cursor = merge->first;

    if (__builtin_expect(cursor == NULL, 0))
        return merge_start(merge);
    if (__builtin_expect(!cursor_next(cursor), 0))
        return merge_leave(merge);
    return cursor->ticks < merge->limit ? cursor : merge_choose(merge);
}
/* Positions of all streams before the event that merge_next gave last, or at the end of all; by rank. */
void merge_save(const struct merge *merge, struct position *positions);
/* From there on: the same events in the same order. */
void merge_open_at(struct merge *merge, const struct trace *trace, const struct position *positions,
                   struct reporter *reporter);
void merge_close(struct merge *merge);

#endif
