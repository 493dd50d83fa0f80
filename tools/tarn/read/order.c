/* order.c - the merge of all CPUs; see order.h. */
#include <stdlib.h>
#include <tools/tarn/read/order.h>

static void alloc_tournament(struct merge *merge, const struct trace *trace)
{
    memset(merge, 0, sizeof(*merge));
    merge->trace = trace;
    for (merge->leaves = 1; merge->leaves < trace->stream_count;)
        merge->leaves *= 2;
    merge->cursors = alloc_zero(trace->stream_count, sizeof(merge->cursors[0]));
    merge->tree = alloc_zero(2ul * merge->leaves, sizeof(merge->tree[0]));
    memset(merge->tree, 0xff, 2ul * merge->leaves * sizeof(merge->tree[0]));
}

void merge_open(struct merge *merge, const struct trace *trace, const bool *wanted, uint64_t from,
                struct reporter *reporter)
{
    alloc_tournament(merge, trace);
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
            merge->tree[1] = merge_play(merge, cursor, merge_place_of(cursor));
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
    alloc_tournament(merge, trace);
    for (unsigned i = 0; i < trace->stream_count; i++)
        if (cursor_open_at(&merge->cursors[i], trace, &trace->streams[i], positions[i], reporter))
            merge->tree[1] = merge_play(merge, &merge->cursors[i], merge_place_of(&merge->cursors[i]));
}

struct cursor *merge_start(struct merge *merge)
{
    merge_place place = merge->tree[1];
    return merge->first = place != MERGE_NOBODY ? (struct cursor *)(uintptr_t)place : NULL;
}

struct cursor *merge_leave(struct merge *merge)
{
    merge->tree[1] = merge_play(merge, merge->first, MERGE_NOBODY);
    return merge_start(merge);
}

void merge_close(struct merge *merge)
{
    for (unsigned i = 0; i < merge->trace->stream_count; i++)
        cursor_close(&merge->cursors[i]);
    free(merge->cursors);
    free(merge->tree);
}
