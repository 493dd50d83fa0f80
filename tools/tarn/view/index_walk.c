/* SPDX-License-Identifier: BSD-2-Clause */
/* index_walk.c - walks that begin at a checkpoint; see index_walk.h. */
#include <stdlib.h>
#include <tools/tarn/view/index_walk.h>

/* Opens WALK at the checkpoint before a stride; READER is left after the positions. Without a checkpoint,
 * the walk begins at the start of the trace, which is correct but slow. */
static void open_at(struct walk *walk, const struct trace *trace, const struct index *index, size_t stride,
                    struct buffer_reader *reader)
{
    struct position *positions = alloc_zero(trace->stream_count + 1, sizeof(*positions));
    struct index_losses losses;

    *reader = (struct buffer_reader){0};
    if (stride > 0) {
        *reader = blob_array_get(&index->checkpoints, stride - 1);
        buffer_get(reader, positions, trace->stream_count * sizeof(*positions));
        buffer_get(reader, &losses, sizeof(losses));
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

static void call_end(struct walk_range *range, const struct model *model, const struct merge *merge)
{
    uint64_t *limits = alloc_zero(merge->trace->stream_count + 1, sizeof(*limits));

    walk_limits(merge, model, range->to, limits);
    range->end(range, model, limits);
    free(limits);
}

/* Losses in the first packets of the walk, and before them, may reach into the range. */
static void report_again(const struct walk *walk, struct reporter *reporter)
{
    for (unsigned i = 0; i < walk->merge.trace->stream_count && reporter != NULL; i++)
        cursor_report_packet(&walk->merge.cursors[i], reporter);
}

void range_walk_open(struct range_walk *walk, struct model *model, const struct walk_range *range,
                     const struct trace *trace, const struct index *index)
{
    size_t stride = index_find_time(index, range->from) / INDEX_STRIDE;
    struct buffer_reader rest;
    struct fail fail;
    bool ok;

    walk->model = model;
    for (;; stride = 0) { /* a damaged checkpoint is not used */
        open_at(&walk->walk, trace, index, stride, &rest);
        model_open(model, trace, range->from, range->to);
        ok = range->knows == WALK_KNOWS_NOTHING ||
             index_restore(index, model, walk->walk.next > 0 ? stride : 0, range->knows == WALK_KNOWS_LOCKS,
                           &fail);
        if (walk->walk.next == 0 || (ok && model_restore(model, rest.at, rest.left, &fail)))
            break;
        walk_close(&walk->walk);
        model_close(model);
    }
    report_again(&walk->walk, range->reporter);
    for (unsigned i = 0; i < trace->stream_count; i++)
        walk->walk.merge.cursors[i].reporter = range->reporter;
    if (range->observer != NULL)
        model_observe(model, range->observer);
}

#define STEP 65536u /* events, for a few milliseconds */

static bool take_events(struct range_walk *walk, struct walk_range *range)
{
    uint64_t begin = walk->walk.next;
    struct cursor *cursor = walk_next(&walk->walk), *moved;

    walk_begin(walk->model, &walk->walk.merge);
    while (cursor != NULL && cursor->ticks < range->to) {
        uint64_t events = walk->walk.number - begin;

        if (range->event != NULL && cursor->ticks >= range->from)
            range->event(range, cursor, walk->model);
        model_apply(walk->model, moved = cursor);
        cursor = walk_next(&walk->walk);
        walk_look_ahead(walk->model, moved);
        if (events % STEP == 0 && range->go_on != NULL && !range->go_on(range, events))
            return false;
    }
    return true;
}

bool range_walk_run(struct range_walk *walk, struct walk_range *range, struct fail *fail)
{
    model_begin_range(walk->model);
    if (!take_events(walk, range))
        return fail_set(fail, "the request was cancelled");
    if (range->end != NULL)
        call_end(range, walk->model, &walk->walk.merge);
    model_finish_range(walk->model, &walk->walk.merge);
    return true;
}

bool walk_range(struct walk_range *range, const struct trace *trace, const struct index *index,
                struct fail *fail)
{
    struct range_walk walk;
    struct model model;
    bool ok;

    range_walk_open(&walk, &model, range, trace, index);
    ok = range_walk_run(&walk, range, fail);
    walk_close(&walk.walk);
    model_close(&model);
    return ok;
}
