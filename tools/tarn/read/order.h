/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/read/order.h - stage "order": the events of all processors as one sequence.
 *
 * One cursor per stream, ordered by time in nanoseconds, then by the streams' names: just the order of
 * babeltrace2, which merges in nanoseconds whatever the clock's frequency. Cursors play a knockout
 * tournament; when the first one has moved on, only its own matches are played again, without a branch that
 * depends on who wins: with several busy processors that is a coin's toss at every event. Memory is one
 * packet per stream.
 */
#ifndef TARN_ORDER_H
#define TARN_ORDER_H

#include <tools/tarn/read/decode.h>

/* Where a cursor stands: nanoseconds, and then its address, for cursors lie in the order of the streams'
 * names. The least comes first. */
typedef unsigned __int128 merge_place;
#define MERGE_NOBODY (~(merge_place)0) /* at the end of its stream, or no stream at all */

struct merge {
    const struct trace *trace;
    struct cursor *cursors;
    /* Of 2n and 2n + 1, n has the one that comes before the other. 1, the first of all, is for the slow
     * paths: set only while there is no first cursor. */
    merge_place *tree;
    unsigned leaves;      /* a power of two; leaf `leaves` + i is that of stream i */
    struct cursor *first; /* who gave the event at hand; NULL before the first event and at the end */
};

/* Streams for which WANTED is false are left out; NULL wants all. */
void merge_open(struct merge *merge, const struct trace *trace, const bool *wanted, uint64_t from,
                struct reporter *reporter);
/* Slow paths of merge_next. Nothing was given yet, or all is at its end; the stream of the first is. */
struct cursor *merge_start(struct merge *merge);
struct cursor *merge_leave(struct merge *merge);

static inline merge_place merge_place_of(const struct cursor *cursor)
{
    uint64_t ns = (uint64_t)cursor_ns(cursor) + (1ull << 63); /* negative ones before the others */

    return (merge_place)ns << 64 | (uintptr_t)cursor;
}

/* All matches of CURSOR, which is now at PLACE; returns who is first. */
static inline merge_place merge_play(struct merge *merge, const struct cursor *cursor, merge_place place)
{
    size_t at = merge->leaves + cursor->rank;

    for (; at > 1; at /= 2) {
        merge_place other = merge->tree[at ^ 1];

        merge->tree[at] = place;
        place = other < place ? other : place;
    }
    return place;
}

static inline struct cursor *merge_moved(struct merge *merge, const struct cursor *cursor)
{
    return merge->first = (struct cursor *)(uintptr_t)merge_play(merge, cursor, merge_place_of(cursor));
}

/* The cursor that stands at the next event, or NULL at the end. Valid until the next call. */
static inline struct cursor *merge_next(struct merge *merge)
{
    struct cursor *cursor = merge->first;

    if (__builtin_expect(cursor == NULL, 0))
        return merge_start(merge);
    if (__builtin_expect(!cursor_next(cursor), 0))
        return merge_leave(merge);
    return merge_moved(merge, cursor);
}

/* The same after the event of CURSOR, the first, whose bytes are still needed: they stay where they are.
 * NULL: they would not, or it is not that simple; nothing has changed, and merge_next goes on. */
static inline struct cursor *merge_step(struct merge *merge, struct cursor *cursor)
{
    return __builtin_expect(cursor_step(cursor), 1) ? merge_moved(merge, cursor) : NULL;
}

/* Positions of all streams before the event that merge_next gave last, or at the end of all; by rank. */
void merge_save(const struct merge *merge, struct position *positions);
/* From there on: the same events in the same order. */
void merge_open_at(struct merge *merge, const struct trace *trace, const struct position *positions,
                   struct reporter *reporter);
void merge_close(struct merge *merge);

#endif
