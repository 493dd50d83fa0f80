/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/read/order.c - the merge of all processors; see order.h. */
#include <stdlib.h>
#include <tools/tarn/read/order.h>

/* Cursors lie in the order of the streams' names. */
static inline bool goes_first(const struct merge_place *left, const struct merge_place *right)
{
    return left->ns != right->ns ? left->ns < right->ns : left->cursor < right->cursor;
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

static inline void set_limit(struct merge *merge)
{
    merge->limit = merge->count < 2 ? UINT64_MAX : ticks_before(merge, merge->order[1].cursor->ticks);
}

static void make_room(struct merge *merge, const struct trace *trace)
{
    memset(merge, 0, sizeof(*merge));
    merge->trace = trace;
    set_margin(merge);
    merge->cursors = alloc_zero(trace->stream_count, sizeof(merge->cursors[0]));
    merge->order = alloc_zero(trace->stream_count, sizeof(merge->order[0]));
}

static void add_cursor(struct merge *merge, struct cursor *cursor)
{
    struct merge_place place = {cursor_ns(cursor), cursor};
    unsigned at = merge->count++;

    for (; at > 0 && goes_first(&place, &merge->order[at - 1]); at--)
        merge->order[at] = merge->order[at - 1];
    merge->order[at] = place;
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
}

static inline struct cursor *set_first(struct merge *merge)
{
    merge->first = merge->count > 0 ? merge->order[0].cursor : NULL;
    set_limit(merge);
    return merge->first;
}

struct cursor *merge_start(struct merge *merge)
{
    return set_first(merge);
}

struct cursor *merge_leave(struct merge *merge)
{
    merge->count--;
    memmove(&merge->order[0], &merge->order[1], merge->count * sizeof(merge->order[0]));
    return set_first(merge);
}

struct cursor *merge_choose(struct merge *merge)
{
    struct merge_place *order = merge->order, place = {cursor_ns(order[0].cursor), order[0].cursor};
    unsigned at = 1;

    for (; at < merge->count && goes_first(&order[at], &place); at++)
        order[at - 1] = order[at];
    order[at - 1] = place;
    return set_first(merge);
}

void merge_close(struct merge *merge)
{
    for (unsigned i = 0; i < merge->trace->stream_count; i++)
        cursor_close(&merge->cursors[i]);
    free(merge->cursors);
    free(merge->order);
}
