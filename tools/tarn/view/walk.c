/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/view/walk.c - walks that begin at a checkpoint; see walk.h. */
#include <stdlib.h>
#include <tools/tarn/view/walk.h>

void walk_open(struct walk *walk, const struct trace *trace, const struct index *index, size_t block)
{
    struct position *positions = alloc_zero(trace->stream_count + 1, sizeof(*positions));
    size_t stride = block / INDEX_STRIDE;

    /* Without its checkpoint a block is reached from the begin: all the same, but slowly. */
    if (stride > 0) {
        struct buffer_reader reader = pile_get(&index->checkpoints, stride - 1);

        buffer_get(&reader, positions, trace->stream_count * sizeof(*positions));
        stride = reader.failed ? 0 : stride;
    }
    walk->next = stride > 0 ? index_first(index, stride * INDEX_STRIDE) : 0;
    merge_open_at(&walk->merge, trace, positions, NULL);
    free(positions);
}

void walk_close(struct walk *walk)
{
    merge_close(&walk->merge);
}
