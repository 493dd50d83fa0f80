/* lanes_sum.c - lanes of a long range, from the index: parts of the range (cover.h) are added up until they
 * fill a pixel, and then become a box of each lane; see lanes.h. */
#include <tools/tarn/view/cover.h>
#include <tools/tarn/view/lanes.h>

#define WALK_BUDGET 150000u /* events, where the index is too coarse */

struct accumulator {
    struct cover cover;
    struct lanes *lanes;
    double pixel;     /* ticks */
    struct tally sum; /* of the parts that are in no box yet */
};

/* Adds a box with four shares; adjacent ones with the same content become one. */
static void add_box(struct lane *lane, struct lane_box *box, const uint64_t ticks[4])
{
    struct buffer *boxes = &lane->rows[0].out;
    struct lane_box *last = boxes->used > 0 ? (struct lane_box *)(boxes->bytes + boxes->used) - 1 : NULL;
    for (int kind = 0; kind < 4; kind++) {
        double share = 100.0 * (double)ticks[kind] / (double)(box->end - box->begin) + 0.5;
        box->shares[kind] = share > 100 ? 100 : (uint8_t)share;
    }
    if (last != NULL && last->what == box->what && last->merged == box->merged)
        last->end = box->end;
    else
        buffer_add(boxes, box, sizeof(*box));
}

static void add_cpu(struct lane *lane, const struct tally_cpu *cpu, struct lane_box box)
{
    uint64_t most = 0;
    box.what = LANES_NOBODY;
    for (uint32_t i = 0; i < cpu->count; i++)
        if (cpu->ran[i].ticks > most) {
            most = cpu->ran[i].ticks;
            box.what = cpu->ran[i].thread;
        }
    add_box(lane, &box, cpu->ticks);
}

static void add_thread(struct lane *lane, const struct tally_thread *thread, struct lane_box box)
{
    uint64_t most = 0;
    box.what = MODEL_STATES;
    for (int kind = NODE_READY + 1; kind < NODE_KINDS; kind++)
        if (thread->ticks[kind] > most) {
            most = thread->ticks[kind];
            box.what = (uint32_t)kind - NODE_READY + MODEL_READY;
        }
    add_box(lane, &box, thread->ticks);
    lane->state = thread->last;
}

/* All threads with lanes are in the sum, because one that stays in its state is in no part. */
static void begin_boxes(struct accumulator *accumulator, uint64_t begin)
{
    const struct lanes *lanes = accumulator->lanes;
    tally_begin(&accumulator->sum, begin);
    for (const struct lane *lane = lanes->all; lane < lanes->all + lanes->count; lane++) {
        struct tally_thread *thread = lane->is_cpu ? NULL : tally_add_thread(&accumulator->sum, lane->number);
        if (thread == NULL)
            continue;
        thread->last = lane->state;
        thread->until = begin;
    }
}

static void end_boxes(struct accumulator *accumulator, uint64_t end)
{
    struct lanes *lanes = accumulator->lanes;
    struct tally *sum = &accumulator->sum;
    struct lane_box box = {.begin = sum->begin, .end = end};
    if (end <= sum->begin)
        return;
    tally_extend(sum, end);
    for (struct lane *lane = lanes->all; lane < lanes->all + lanes->count; lane++)
        if (!lane->is_cpu)
            add_thread(lane, &sum->threads[lane->number], box);
        else if (lane->number < sum->cpu_count)
            add_cpu(lane, &sum->cpus[lane->number], box);
    for (uint32_t type = 0; type < lanes->type_count; type++)
        if (sum->events[type] != 0)
            lanes_count(lanes, type, sum->begin, end, sum->events[type]);
    begin_boxes(accumulator, end);
}

static void take(struct cover *cover, uint64_t end)
{
    struct accumulator *accumulator = OUTER(cover, struct accumulator, cover);
    if ((double)(end - accumulator->sum.begin) >= 0.75 * accumulator->pixel)
        end_boxes(accumulator, end);
}

/* Notes the state of each thread when the range begins. */
static void note_states(struct lanes *lanes, const struct view *view)
{
    struct model model;
    struct merge merge;
    model_open(&model, &view->trace, lanes->from, lanes->from);
    walk_open_range(&model, &merge, &view->index, lanes->from, WALK_KNOWS_NOTHING, NULL);
    if (lanes->from > view->index.begin)
        model_walk(&model, &merge);
    for (struct lane *lane = lanes->all; lane < lanes->all + lanes->count; lane++) {
        const struct model_thread *thread =
            !lane->is_cpu && lane->number < model.thread_count ? model.threads[lane->number] : NULL;
        lane->state = NODE_ABSENT;
        if (thread != NULL && thread->tid != MODEL_NOBODY &&
            (thread->state != MODEL_RUNNING ||
             walk_limit(&merge, &model, thread->cpu, lanes->from) >= lanes->from))
            lane->state = (uint8_t)node_kind(thread);
    }
    merge_close(&merge);
    model_close(&model);
}

void lanes_sum(struct lanes *lanes, const struct view *view)
{
    double pixel = (double)(lanes->to - lanes->from) / lanes->width;
    struct accumulator accumulator = {.cover = {.index = &view->index,
                                                .trace = &view->trace,
                                                .from = lanes->from,
                                                .to = lanes->to,
                                                .grain = pixel > 2 ? pixel / 2 : 1,
                                                .budget = WALK_BUDGET,
                                                .take = take,
                                                .sum = &accumulator.sum},
                                      .lanes = lanes,
                                      .pixel = pixel};
    note_states(lanes, view);
    tally_open(&accumulator.sum, &view->trace);
    begin_boxes(&accumulator, lanes->from);
    cover_range(&accumulator.cover);
    end_boxes(&accumulator, lanes->to);
    tally_close(&accumulator.sum);
}
