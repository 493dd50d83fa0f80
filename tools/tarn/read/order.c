/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/read/order.c - the merge of all processors; see order.h. */
#include <stdlib.h>
#include <tools/tarn/read/order.h>

static inline bool goes_first(const struct merge_place *left, const struct merge_place *right)
{
    return left->ns != right->ns ? left->ns < right->ns
                                 : left->cursor->stream->rank < right->cursor->stream->rank;
}

/* The cursor at NUMBER may have become later than those below it. */
static void sift_down(struct merge *merge, unsigned number)
{
    struct merge_place place = merge->heap[number];

    for (;;) {
        unsigned child = 2 * number + 1;

        if (child >= merge->count)
            break;
        if (child + 1 < merge->count && goes_first(&merge->heap[child + 1], &merge->heap[child]))
            child++;
        if (goes_first(&place, &merge->heap[child]))
            break;
        merge->heap[number] = merge->heap[child];
        number = child;
    }
    merge->heap[number] = place;
}

/* All ticks below are in an earlier nanosecond than TICKS. schema_ns rounds down after three operations in
 * floating point, each wrong by less than 2^-53 of its result; where it could overflow there is no such
 * limit.
 */
static inline uint64_t ticks_before(const struct merge *merge, uint64_t ticks)
{
    double margin = merge->margin + merge->margin_growth * (double)(int64_t)ticks;

    return ticks < merge->ticks_max && margin < (double)(int64_t)ticks ? ticks - (uint64_t)(int64_t)margin
                                                                       : 0;
}

static void set_margin(struct merge *merge)
{
    const struct schema *schema = &merge->trace->schema;
    double ticks_per_ns = (double)schema->clock_freq / 1e9, most = 4e18 * ticks_per_ns;

    merge->ticks_max = most < 0x1p62 ? (uint64_t)most : 1ull << 62;
    if (schema->clock_base_ns >= 1ll << 61 || schema->clock_base_ns <= -(1ll << 61))
        merge->ticks_max = 0;
    if (schema->clock_freq != 1000000000) {
        merge->margin = 2 * ticks_per_ns + 2;
        merge->margin_growth = 0x1p-50;
    }
}

static void set_limit(struct merge *merge)
{
    const struct merge_place *second = &merge->heap[1];

    if (merge->count > 2 && goes_first(&merge->heap[2], second))
        second = &merge->heap[2];
    merge->limit = merge->count < 2 ? UINT64_MAX : ticks_before(merge, second->cursor->ticks);
}

static void make_room(struct merge *merge, const struct trace *trace)
{
    memset(merge, 0, sizeof(*merge));
    merge->trace = trace;
    set_margin(merge);
    merge->cursors = alloc_zero(trace->stream_count, sizeof(merge->cursors[0]));
    merge->heap = alloc_zero(trace->stream_count, sizeof(merge->heap[0]));
}

static void add_cursor(struct merge *merge, struct cursor *cursor)
{
    merge->heap[merge->count++] = (struct merge_place){cursor_ns(cursor), cursor};
}

static void make_heap(struct merge *merge)
{
    for (unsigned number = merge->count / 2; number-- > 0;)
        sift_down(merge, number);
    set_limit(merge);
}

void merge_open(struct merge *merge, const struct trace *trace, const bool *wanted, uint64_t from,
                struct reporter *reporter)
{
    make_room(merge, trace);
    for (unsigned i = 0; i < trace->stream_count; i++) {
        struct cursor *cursor = &merge->cursors[i];
        bool found;

        if (wanted != NULL && !wanted[i])
            continue;
        cursor_open(cursor, trace, &trace->streams[i], from, reporter);
        do
            found = cursor_next(cursor);
        while (found && cursor->ticks < from);
        if (found)
            add_cursor(merge, cursor);
    }
    make_heap(merge);
}

void merge_save(const struct merge *merge, struct position *positions)
{
    for (unsigned i = 0; i < merge->trace->stream_count; i++)
        positions[i] = cursor_position(&merge->cursors[i]);
}

void merge_open_at(struct merge *merge, const struct trace *trace, const struct position *positions,
                   struct reporter *reporter)
{
    make_room(merge, trace);
    for (unsigned i = 0; i < trace->stream_count; i++)
        if (cursor_open_at(&merge->cursors[i], trace, &trace->streams[i], positions[i], reporter))
            add_cursor(merge, &merge->cursors[i]);
    make_heap(merge);
}

/* The first cursor has come near the second, or to its end. */
static struct cursor *choose_first(struct merge *merge, bool has_more)
{
    if (has_more)
        merge->heap[0].ns = cursor_ns(merge->heap[0].cursor);
    else
        merge->heap[0] = merge->heap[--merge->count];
    if (merge->count == 0)
        return NULL;
    sift_down(merge, 0);
    set_limit(merge);
    return merge->heap[0].cursor;
}

struct cursor *merge_next(struct merge *merge)
{
    struct cursor *cursor;
    bool has_more;

    if (merge->count == 0)
        return NULL;
    cursor = merge->heap[0].cursor;
    if (!merge->started) {
        merge->started = true;
        return cursor;
    }
    has_more = cursor_next(cursor);
    return has_more && cursor->ticks < merge->limit ? cursor : choose_first(merge, has_more);
}

void merge_close(struct merge *merge)
{
    for (unsigned i = 0; i < merge->trace->stream_count; i++)
        cursor_close(&merge->cursors[i]);
    free(merge->cursors);
    free(merge->heap);
}
