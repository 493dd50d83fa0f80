/* SPDX-License-Identifier: BSD-2-Clause */
/* index_walk.c - walks that begin at a checkpoint; see index_walk.h. */
#include <stdlib.h>
#include <tools/tarn/index/index_walk.h>

/* Opens WALK at the checkpoint before a stride; READER is left after the positions. Without a checkpoint,
 * the walk begins at the start of the trace, which is correct but slow. */
static void open_at(struct walk *walk, const struct trace *trace, const struct index *index, size_t stride,
                    struct buffer_reader *reader)
{
    struct position *positions = alloc_zero(trace->stream_count + 1, sizeof(*positions));

    *reader = (struct buffer_reader){0};
    if (stride > 0) {
        *reader = blob_array_get(&index->checkpoints, stride - 1);
        buffer_get(reader, positions, trace->stream_count * sizeof(*positions));
        buffer_skip(reader, reader->failed ? 0 : INDEX_LOSSES_BYTES + sizeof(index->report_count));
    }
    walk->next = stride > 0 && !reader->failed ? index_first(index, stride * INDEX_STRIDE) : 0;
    merge_open_at(&walk->merge, trace, positions, NULL);
    free(positions);
}

void walk_open(struct walk *walk, const struct trace *trace, const struct index *index, size_t block)
{
    struct buffer_reader rest;

    open_at(walk, trace, index, block / INDEX_STRIDE, &rest);
}

void walk_close(struct walk *walk)
{
    merge_close(&walk->merge);
}

/* Losses in the first packets of the walk, and before them, may reach into the range. */
static void report_to(struct merge *merge, struct reporter *reporter)
{
    for (unsigned i = 0; i < merge->trace->stream_count && reporter != NULL; i++) {
        cursor_report_packet(&merge->cursors[i], reporter);
        merge->cursors[i].reporter = reporter;
    }
}

void walk_open_range(struct model *model, struct merge *merge, const struct trace *trace,
                     const struct index *index, uint64_t from, uint64_t to, enum walk_knowledge knows,
                     struct reporter *reporter)
{
    size_t stride = index_find_time(index, from) / INDEX_STRIDE;
    struct buffer_reader rest;
    struct walk walk;

    open_at(&walk, trace, index, stride, &rest);
    model_open(model, trace, from, to);
    if (knows != WALK_KNOWS_NOTHING)
        index_restore(index, model, walk.next > 0 ? stride : 0, knows == WALK_KNOWS_LOCKS);
    if (walk.next > 0)
        model_restore(model, rest.at, rest.left);
    *merge = walk.merge;
    report_to(merge, reporter);
}
