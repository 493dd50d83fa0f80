/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/read/order.c - the merge of all processors; see order.h. */
#include <stdlib.h>
#include <tools/tarn/read/order.h>

static inline bool goes_first(const struct cursor *left, const struct cursor *right)
{
    return left->ns != right->ns ? left->ns < right->ns : left->stream->rank < right->stream->rank;
}

/* The cursor at PLACE may have become later than those below it. */
static void sift_down(struct merge *merge, unsigned place)
{
    struct cursor *cursor = merge->heap[place];

    for (;;) {
        unsigned child = 2 * place + 1;

        if (child >= merge->count)
            break;
        if (child + 1 < merge->count && goes_first(merge->heap[child + 1], merge->heap[child]))
            child++;
        if (goes_first(cursor, merge->heap[child]))
            break;
        merge->heap[place] = merge->heap[child];
        place = child;
    }
    merge->heap[place] = cursor;
}

static void make_room(struct merge *merge, const struct trace *trace)
{
    merge->trace = trace;
    merge->cursors = alloc_zero(trace->stream_count, sizeof(merge->cursors[0]));
    merge->heap = alloc_zero(trace->stream_count, sizeof(merge->heap[0]));
    merge->count = 0;
    merge->started = false;
}

static void make_heap(struct merge *merge)
{
    for (unsigned place = merge->count / 2; place-- > 0;)
        sift_down(merge, place);
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
            merge->heap[merge->count++] = cursor;
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
            merge->heap[merge->count++] = &merge->cursors[i];
    make_heap(merge);
}

struct cursor *merge_next(struct merge *merge)
{
    if (merge->count == 0)
        return NULL;
    if (merge->started) {
        if (!cursor_next(merge->heap[0]))
            merge->heap[0] = merge->heap[--merge->count];
        if (merge->count == 0)
            return NULL;
        sift_down(merge, 0);
    }
    merge->started = true;
    return merge->heap[0];
}

void merge_close(struct merge *merge)
{
    for (unsigned i = 0; i < merge->trace->stream_count; i++)
        cursor_close(&merge->cursors[i]);
    free(merge->cursors);
    free(merge->heap);
}
