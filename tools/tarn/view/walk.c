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

/* Whether nothing is known of a processor after what the model has heard: no event follows, or one that comes
 * after a gap. */
static bool is_dark(const struct cursor *cursor, const struct model_cpu *cpu)
{
    return cursor->at == NULL || (cursor->has_gap && cpu->packet_end != cursor->packet.header.timestamp_end);
}

void walk_limits(const struct merge *merge, const struct model *model, uint64_t end, uint64_t *limits)
{
    for (unsigned i = 0; i < merge->trace->stream_count; i++) {
        const struct model_cpu *cpu = &model->cpus[i];
        uint64_t last = cpu->packet_end > cpu->last ? cpu->packet_end : cpu->last;

        limits[i] = is_dark(&merge->cursors[i], cpu) && last < end ? last : end;
    }
}

/* As if the trace ended at `to`, though no packet does. */
static void finish(struct walk_range *range, struct model *model, const struct merge *merge)
{
    uint64_t *limits = alloc_zero(merge->trace->stream_count + 1, sizeof(*limits));

    walk_limits(merge, model, range->to, limits);
    if (range->end != NULL)
        range->end(range, model, limits);
    for (unsigned i = 0; i < merge->trace->stream_count; i++)
        if (model->cpus[i].packet_end < limits[i])
            model->cpus[i].packet_end = limits[i];
    free(limits);
    model_finish(model);
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
    if (fine)
        finish(range, &model, &walk.merge);
    if (fine && range->finished != NULL)
        range->finished(range);
    walk_close(&walk);
    model_close(&model);
    return fine;
}
