/*
 * order.h - stage "order": merges the events of all CPUs, by time in nanoseconds, then by stream name,
 * exactly as babeltrace2 does.
 *
 * The merge is a knockout tournament of one cursor per stream. When the winner moves on, only its own matches
 * are replayed, without a branch that depends on the winner, which would be unpredictable.
 */
#pragma once

#include <tools/tarn/read/decode.h>

/* Sort key of a cursor: nanoseconds, then its address, because cursors are stored in the order of the stream
 * names. The smallest key comes first. */
typedef unsigned __int128 merge_place;
#define MERGE_NOBODY (~(merge_place)0) /* end of stream, or no stream */

struct merge {
    const struct trace *trace;
    struct cursor *cursors;
    /* Node n holds the smaller key of nodes 2n and 2n + 1. Node 1, the winner, is used by slow paths only:
     * valid while `first` is NULL. */
    merge_place *tree;
    unsigned leaves;      /* a power of two; stream i is at leaf `leaves` + i */
    struct cursor *first; /* the cursor of the current event; NULL before the first event and at the end */
};

/* Opens the streams for which WANTED is true; NULL: all. */
void merge_open(struct merge *merge, const struct trace *trace, const bool *wanted, uint64_t from,
                struct reporter *reporter);
/* Slow paths of merge_next: no current event; end of the first stream. */
struct cursor *merge_start(struct merge *merge);
struct cursor *merge_leave(struct merge *merge);

static inline merge_place merge_place_of(const struct cursor *cursor)
{
    uint64_t ns = (uint64_t)cursor_ns(cursor) + (1ull << 63); /* sorts negative times before positive ones */
    return (merge_place)ns << 64 | (uintptr_t)cursor;
}

/* Replays all matches of CURSOR, now at PLACE; returns the winner's key. */
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

/* Returns the cursor at the next event, or NULL at the end. Valid until the next call. */
static inline struct cursor *merge_next(struct merge *merge)
{
    struct cursor *cursor = merge->first;
    if (__builtin_expect(cursor == NULL, 0))
        return merge_start(merge);
    if (__builtin_expect(!cursor_next(cursor), 0))
        return merge_leave(merge);
    return merge_moved(merge, cursor);
}

/* The same, but keeps the bytes of the current event, which belongs to CURSOR, in memory. NULL: that is not
 * possible; nothing has changed, and the caller continues with merge_next. */
static inline struct cursor *merge_step(struct merge *merge, struct cursor *cursor)
{
    return __builtin_expect(cursor_step(cursor), 1) ? merge_moved(merge, cursor) : NULL;
}

/* Stores the positions of all streams, by rank: before
 * the event that merge_next returned last, or at the end. */
void merge_save(const struct merge *merge, struct position *positions);
/* Continues at saved positions, with the same events in the same order. */
void merge_open_at(struct merge *merge, const struct trace *trace, const struct position *positions,
                   struct reporter *reporter);
void merge_close(struct merge *merge);
