/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lanes_sum.c - lanes of a long range, from the index: shares of time per pixel; see lanes.h.
 *
 * The range is split into parts (cover.h). The times in a part are spread evenly over its pixels, usually
 * one. A walk to the start of the range finds the state of each thread there.
 */
#include <stdlib.h>
#include <tools/tarn/view/cover.h>
#include <tools/tarn/view/index_walk.h>
#include <tools/tarn/view/lanes.h>

#define WALK_BUDGET 200000u /* events, where the index is too coarse */
#define RIVALS      4u      /* threads that compete for a pixel of a CPU */

struct cpu_pixel {
    float ticks[CPU_KINDS];
    float ran[RIVALS];
    uint32_t threads[RIVALS];
};

struct thread_row {
    float (*pixels)[NODE_KINDS]; /* ticks */
    enum node_kind last;         /* its state ... */
    uint64_t until;              /* ... since this time, up to which it is counted */
};

struct accumulator {
    struct cover cover;
    struct lanes *lanes;
    double pixel;            /* ticks */
    uint32_t *places, count; /* lanes by thread; their number */
    struct cpu_pixel **cpus; /* by lane: its pixels */
    struct thread_row *rows; /* by lane */
};

/* ---- pixels ---------------------------------------------------------------------------------------- */

static struct spread spread_of(const struct accumulator *accumulator, uint64_t begin, uint64_t end)
{
    const struct lanes *lanes = accumulator->lanes;

    return spread_over(begin, end, lanes->from, accumulator->pixel, lanes->width);
}

static void add_ran(struct cpu_pixel *pixel, uint32_t thread, float ticks)
{
    unsigned least = 0;

    for (unsigned i = 0; i < RIVALS; i++) {
        if (pixel->ran[i] > 0 && pixel->threads[i] == thread) {
            pixel->ran[i] += ticks;
            return;
        }
        if (pixel->ran[i] < pixel->ran[least])
            least = i;
    }
    if (pixel->ran[least] < ticks) {
        pixel->ran[least] = ticks;
        pixel->threads[least] = thread;
    }
}

static void add_cpu(struct cpu_pixel *pixels, const struct spread *spread, const struct tally_cpu *cpu)
{
    for (uint32_t i = spread->first; i <= spread->last; i++) {
        float share = (float)spread_share(spread, i);

        for (int kind = 0; kind < CPU_KINDS; kind++)
            pixels[i].ticks[kind] += (float)cpu->ticks[kind] * share;
        for (uint32_t n = 0; n < cpu->count; n++)
            add_ran(&pixels[i], cpu->ran[n].thread, (float)cpu->ran[n].ticks * share);
    }
}

static void add_thread_ticks(struct thread_row *row, const struct spread *spread, int kind, uint64_t ticks)
{
    for (uint32_t i = spread->first; ticks != 0 && i <= spread->last; i++)
        row->pixels[i][kind] += (float)ticks * (float)spread_share(spread, i);
}

/* Until END, a thread stayed in its last state. */
static void add_rest(const struct accumulator *accumulator, struct thread_row *row, uint64_t end)
{
    struct spread spread = spread_of(accumulator, row->until, end);

    if (row->last != NODE_ABSENT && row->until < end)
        add_thread_ticks(row, &spread, row->last, end - row->until);
}

/* NULL: it has no lane. */
static struct thread_row *row_of(const struct accumulator *accumulator, uint32_t number)
{
    if (number >= accumulator->count || accumulator->places[number] == UINT32_MAX)
        return NULL;
    return &accumulator->rows[accumulator->places[number]];
}

/* ---- parts ----------------------------------------------------------------------------------------- */

static void add_thread(const struct accumulator *accumulator, struct thread_row *row,
                       const struct tally_thread *thread, uint64_t begin, uint64_t end)
{
    struct spread spread = spread_of(accumulator, begin, end);

    add_rest(accumulator, row, begin);
    for (int kind = 0; kind < NODE_KINDS; kind++)
        add_thread_ticks(row, &spread, kind, thread->ticks[kind]);
    row->until = end;
    row->last = thread->last;
}

static void take(struct cover *cover, const struct tally *part, uint64_t begin, uint64_t end)
{
    struct accumulator *accumulator = OUTER(cover, struct accumulator, cover);
    struct lanes *lanes = accumulator->lanes;
    struct spread spread = spread_of(accumulator, begin, end);

    for (uint32_t i = 0; i < lanes->cpu_count; i++)
        if (lanes->cpus[i].number < part->cpu_count)
            add_cpu(accumulator->cpus[i], &spread, &part->cpus[lanes->cpus[i].number]);
    for (uint32_t i = 0; i < part->touched_count; i++) {
        uint32_t number = part->touched[i];
        struct thread_row *row = row_of(accumulator, number);

        if (row != NULL)
            add_thread(accumulator, row, &part->threads[number], begin, end);
    }
    for (uint32_t type = 0; type < lanes->type_count && lanes->counts != NULL; type++)
        if (part->events[type] != 0)
            lanes_count(lanes, type, begin, end, part->events[type]);
}

/* Notes the state of each thread when the range begins. */
static void note_states(struct accumulator *accumulator, const struct index *index, uint64_t from)
{
    const struct lanes *lanes = accumulator->lanes;
    struct model model;
    struct merge merge;
    uint64_t *limits = alloc_zero(accumulator->cover.trace->stream_count + 1, sizeof(*limits));

    walk_open_range(&model, &merge, accumulator->cover.trace, index, from, from, WALK_KNOWS_NOTHING, NULL);
    model_walk(&model, &merge);
    walk_limits(&merge, &model, from, limits);
    for (uint32_t i = 0; i < lanes->thread_count; i++) {
        uint32_t number = lanes->threads[i].number;
        const struct model_thread *thread = number < model.thread_count ? model.threads[number] : NULL;

        if (thread != NULL && thread->tid != MODEL_NOBODY &&
            (thread->state != MODEL_RUNNING || limits[thread->cpu] >= from))
            accumulator->rows[i].last = node_kind(thread);
    }
    free(limits);
    merge_close(&merge);
    model_close(&model);
}

/* ---- boxes ----------------------------------------------------------------------------------------- */

static uint8_t percent(float part, double whole)
{
    double share = 100.0 * part / whole + 0.5;

    return share > 100 ? 100 : (uint8_t)share;
}

/* Returns the time at which a pixel begins. */
static uint64_t begin_of(const struct accumulator *accumulator, uint32_t pixel)
{
    return accumulator->lanes->from + (uint64_t)(pixel * accumulator->pixel + 0.5);
}

/* Adds a pixel; adjacent ones with the same content become one box. */
static void add_pixel(const struct accumulator *accumulator, struct lane *lane, uint32_t pixel,
                      struct lane_box *box)
{
    size_t count = lane_count(&lane->boxes, sizeof(*box));
    struct lane_box *last = count > 0 ? (struct lane_box *)lane->boxes.bytes + count - 1 : NULL;

    box->begin = begin_of(accumulator, pixel);
    box->end = begin_of(accumulator, pixel + 1);
    if (last != NULL && last->what == box->what && last->merged == box->merged)
        last->end = box->end;
    else
        buffer_add(&lane->boxes, box, sizeof(*box));
}

static void make_cpu_boxes(const struct accumulator *accumulator, const struct cpu_pixel *pixels,
                           struct lane *lane)
{
    for (uint32_t i = 0; i < accumulator->lanes->width; i++) {
        const struct cpu_pixel *pixel = &pixels[i];
        struct lane_box box = {.what = LANES_NOBODY};
        unsigned most = 0;

        for (unsigned rival = 1; rival < RIVALS; rival++)
            most = pixel->ran[rival] > pixel->ran[most] ? rival : most;
        if (pixel->ran[most] > 0)
            box.what = pixel->threads[most];
        for (int kind = 0; kind < CPU_KINDS; kind++)
            box.shares[kind] = percent(pixel->ticks[kind], accumulator->pixel);
        add_pixel(accumulator, lane, i, &box);
    }
}

static void make_thread_boxes(const struct accumulator *accumulator, const struct thread_row *row,
                              struct lane *lane)
{
    for (uint32_t i = 0; i < accumulator->lanes->width; i++) {
        const float *ticks = row->pixels[i];
        struct lane_box box = {.what = MODEL_STATES};
        float most = 0;

        for (int kind = NODE_USER; kind <= NODE_READY; kind++)
            box.shares[kind] = percent(ticks[kind], accumulator->pixel);
        for (int kind = NODE_READY + 1; kind < NODE_KINDS; kind++)
            if (ticks[kind] > most) {
                most = ticks[kind];
                box.what = (uint32_t)kind - NODE_READY + MODEL_READY;
            }
        add_pixel(accumulator, lane, i, &box);
    }
}

/* ---- all lanes ------------------------------------------------------------------------------------- */

static void open_pixels(struct accumulator *accumulator, const struct view *view)
{
    struct lanes *lanes = accumulator->lanes;

    accumulator->count = index_thread_count(&view->index);
    accumulator->places = lanes_places(lanes, accumulator->count);
    accumulator->cpus = alloc_zero(lanes->cpu_count + 1, sizeof(accumulator->cpus[0]));
    accumulator->rows = alloc_zero(lanes->thread_count + 1, sizeof(accumulator->rows[0]));
    for (uint32_t i = 0; i < lanes->cpu_count; i++)
        accumulator->cpus[i] = alloc_zero(lanes->width, sizeof(struct cpu_pixel));
    for (uint32_t i = 0; i < lanes->thread_count; i++)
        accumulator->rows[i] = (struct thread_row){alloc_zero(lanes->width, sizeof(float[NODE_KINDS])),
                                                   NODE_ABSENT, lanes->from};
}

static void close_pixels(struct accumulator *accumulator)
{
    for (uint32_t i = 0; i < accumulator->lanes->cpu_count; i++)
        free(accumulator->cpus[i]);
    for (uint32_t i = 0; i < accumulator->lanes->thread_count; i++)
        free(accumulator->rows[i].pixels);
    free(accumulator->cpus);
    free(accumulator->rows);
    free(accumulator->places);
}

void lanes_sum(struct lanes *lanes, const struct view *view)
{
    double pixel = (double)(lanes->to - lanes->from) / lanes->width;
    struct accumulator accumulator = {.cover = {.index = &view->index,
                                                .trace = &view->trace,
                                                .from = lanes->from,
                                                .to = lanes->to,
                                                .grain = pixel > 1 ? pixel : 1,
                                                .budget = WALK_BUDGET,
                                                .take = take},
                                      .lanes = lanes,
                                      .pixel = pixel};

    open_pixels(&accumulator, view);
    if (lanes->from > view->index.begin)
        note_states(&accumulator, &view->index, lanes->from);
    cover_range(&accumulator.cover);
    for (uint32_t i = 0; i < lanes->thread_count; i++) {
        add_rest(&accumulator, &accumulator.rows[i], lanes->to);
        make_thread_boxes(&accumulator, &accumulator.rows[i], &lanes->threads[i]);
    }
    for (uint32_t i = 0; i < lanes->cpu_count; i++)
        make_cpu_boxes(&accumulator, accumulator.cpus[i], &lanes->cpus[i]);
    close_pixels(&accumulator);
}
