/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/view/walk.c - walks that begin at a checkpoint; see walk.h. */
#include <stdlib.h>
#include <tools/tarn/view/walk.h>

/* The checkpoint before a stride; what follows the positions is left in READER. Without its checkpoint a
 * block is reached from the begin: all the same, but slowly. */
static void open_at(struct walk *walk, const struct trace *trace, const struct index *index, size_t stride,
                    struct reporter *reporter, struct buffer_reader *reader)
{
    struct position *positions = alloc_zero(trace->stream_count + 1, sizeof(*positions));
    struct index_losses losses;

    *reader = (struct buffer_reader){0};
    if (stride > 0) {
        *reader = pile_get(&index->checkpoints, stride - 1);
        buffer_get(reader, positions, trace->stream_count * sizeof(*positions));
        buffer_get(reader, &losses, sizeof(losses));
    }
    walk->next = stride > 0 && !reader->failed ? index_first(index, stride * INDEX_STRIDE) : 0;
    merge_open_at(&walk->merge, trace, positions, reporter);
    free(positions);
}

void walk_open(struct walk *walk, const struct trace *trace, const struct index *index, size_t block)
{
    struct buffer_reader rest;

    open_at(walk, trace, index, block / INDEX_STRIDE, NULL, &rest);
}

void walk_close(struct walk *walk)
{
    merge_close(&walk->merge);
}

static void tell_end(struct walk_range *range, const struct model *model, const struct merge *merge)
{
    uint64_t *limits = alloc_zero(merge->trace->stream_count + 1, sizeof(*limits));

    walk_limits(merge, model, range->to, limits);
    range->end(range, model, limits);
    free(limits);
}

/* At the checkpoint before the range, with the model as it was there. */
static void open_range(const struct walk_range *range, struct walk *walk, struct model *model,
                       const struct trace *trace, const struct index *index)
{
    size_t stride = index_find_time(index, range->from) / INDEX_STRIDE;
    struct buffer_reader rest;
    struct fail fail;

    open_at(walk, trace, index, stride, range->reporter, &rest);
    model_open(model, trace, range->from, range->to);
    if (walk->next > 0 && !model_restore(model, rest.at, rest.left, &fail)) {
        walk_close(walk);
        model_close(model);
        open_at(walk, trace, index, 0, range->reporter, &rest);
        model_open(model, trace, range->from, range->to);
    }
    if (range->observer != NULL)
        model_observe(model, range->observer);
}

bool walk_range(struct walk_range *range, const struct trace *trace, const struct index *index,
                struct fail *fail)
{
    struct walk walk;
    struct model model;
    struct cursor *cursor;
    bool fine;

    open_range(range, &walk, &model, trace, index);
    fine = range->begin == NULL || range->begin(range, &model, fail);
    while (fine && (cursor = walk_next(&walk)) != NULL && cursor->ticks < range->to) {
        if (range->event != NULL && cursor->ticks >= range->from)
            range->event(range, cursor, &model);
        model_take(&model, cursor);
    }
    if (fine && range->end != NULL)
        tell_end(range, &model, &walk.merge);
    if (fine)
        model_finish_range(&model, &walk.merge);
    if (fine && range->finished != NULL)
        range->finished(range);
    walk_close(&walk);
    model_close(&model);
    return fine;
}
