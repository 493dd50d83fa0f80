/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lanes_sum.c - lanes of a long range, from the index: shares of time per pixel; see lanes.h.
 *
 * The range is split into nodes and walks (cover.h). The times in a node are spread evenly over its pixels,
 * usually one. A walk to the start of the range finds the state of each thread there.
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
    struct model_observer observer; /* of walks */
    struct cover_visitor cover;
    struct node_visitor node;
    struct walk_range range;
    struct lanes *lanes;
    const struct view *view;
    double pixel;            /* ticks */
    uint32_t *places, count; /* lanes by thread; their number */
    struct cpu_pixel **cpus; /* by rank: its pixels; NULL: it has no lane */
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

/* Adds time of a KIND, or CPU_KINDS: none; and of the thread that ran, or LANES_NOBODY. */
static void add_cpu_ticks(struct accumulator *accumulator, uint32_t rank, const struct spread *spread,
                          enum cpu_kind kind, uint32_t thread, uint64_t ticks)
{
    for (uint32_t i = spread->first; accumulator->cpus[rank] != NULL && ticks != 0 && i <= spread->last;
         i++) {
        struct cpu_pixel *pixel = &accumulator->cpus[rank][i];
        float part = (float)ticks * (float)spread_share(spread, i);

        if (kind < CPU_KINDS)
            pixel->ticks[kind] += part;
        if (thread != LANES_NOBODY)
            add_ran(pixel, thread, part);
    }
}

static void add_thread_ticks(struct thread_row *row, const struct spread *spread, int kind, uint64_t ticks)
{
    for (uint32_t i = spread->first; ticks != 0 && i <= spread->last; i++)
        row->pixels[i][kind] += (float)ticks * (float)spread_share(spread, i);
}

static void add_thread_time(const struct accumulator *accumulator, struct thread_row *row,
                            enum node_kind kind, uint64_t begin, uint64_t end)
{
    struct spread spread = spread_of(accumulator, begin, end);

    if (kind != NODE_ABSENT && begin < end)
        add_thread_ticks(row, &spread, kind, end - begin);
}

/* Until END, a thread stayed in its last state. */
static void add_rest(const struct accumulator *accumulator, struct thread_row *row, uint64_t end)
{
    add_thread_time(accumulator, row, row->last, row->until, end);
}

/* NULL: it has no lane. */
static struct thread_row *row_of(const struct accumulator *accumulator, uint32_t number)
{
    if (number >= accumulator->count || accumulator->places[number] == UINT32_MAX)
        return NULL;
    return &accumulator->rows[accumulator->places[number]];
}

/* ---- nodes ----------------------------------------------------------------------------------------- */

static void visit_cpu(struct node_visitor *visitor, uint32_t rank, const uint64_t ticks[CPU_KINDS])
{
    struct accumulator *accumulator = OUTER(visitor, struct accumulator, node);
    struct spread spread = spread_of(accumulator, accumulator->cover.begin, accumulator->cover.end);

    for (int kind = 0; kind < CPU_KINDS; kind++)
        add_cpu_ticks(accumulator, rank, &spread, (enum cpu_kind)kind, LANES_NOBODY, ticks[kind]);
}

static void visit_ran(struct node_visitor *visitor, uint32_t rank, uint32_t thread, uint64_t ticks)
{
    struct accumulator *accumulator = OUTER(visitor, struct accumulator, node);
    struct spread spread = spread_of(accumulator, accumulator->cover.begin, accumulator->cover.end);

    add_cpu_ticks(accumulator, rank, &spread, CPU_KINDS, thread, ticks);
}

static void visit_thread(struct node_visitor *visitor, uint32_t number, enum node_kind first,
                         enum node_kind last, const uint64_t ticks[NODE_KINDS])
{
    struct accumulator *accumulator = OUTER(visitor, struct accumulator, node);
    struct thread_row *row = row_of(accumulator, number);
    struct spread spread = spread_of(accumulator, accumulator->cover.begin, accumulator->cover.end);

    if (row == NULL)
        return;
    add_rest(accumulator, row, accumulator->cover.begin);
    for (int kind = 0; kind < NODE_KINDS; kind++)
        add_thread_ticks(row, &spread, kind, ticks[kind]);
    row->until = accumulator->cover.end;
    row->last = last;
}

static void visit_events(struct node_visitor *visitor, uint32_t type, uint64_t count)
{
    const struct accumulator *accumulator = OUTER(visitor, struct accumulator, node);

    lanes_count(accumulator->lanes, type, accumulator->cover.begin, accumulator->cover.end, count);
}

static void visit_node(struct cover_visitor *cover, struct buffer_reader node)
{
    struct accumulator *accumulator = OUTER(cover, struct accumulator, cover);

    node_visit(&accumulator->node, node, accumulator->view->trace.stream_count);
}

/* ---- walks ---------------------------------------------------------------------------------- */

static void on_segment(struct model_observer *self, const struct model_thread *thread, uint64_t from,
                       uint64_t to)
{
    struct accumulator *accumulator = (struct accumulator *)self;
    enum node_kind kind = node_kind(thread);
    struct thread_row *row = row_of(accumulator, thread->number);
    struct spread spread = spread_of(accumulator, from, to);

    if (row != NULL)
        add_thread_time(accumulator, row, kind, from, to);
    if (kind <= NODE_INTERRUPT)
        add_cpu_ticks(accumulator, thread->cpu, &spread, cpu_kind(thread, kind), thread->number, to - from);
}

static void on_event(struct walk_range *range, const struct cursor *cursor, const struct model *model)
{
    lanes_count(OUTER(range, struct accumulator, range)->lanes, cursor->event.type->index, cursor->ticks,
                cursor->ticks, 1);
}

/* Notes the state of each thread after the walk. */
static void note_states(struct walk_range *range, const struct model *model, const uint64_t *limits)
{
    struct accumulator *accumulator = OUTER(range, struct accumulator, range);

    for (uint32_t i = 0; i < accumulator->lanes->thread_count; i++) {
        uint32_t number = accumulator->lanes->threads[i].number;
        const struct model_thread *thread = number < model->thread_count ? model->threads[number] : NULL;
        bool is_known = thread != NULL && thread->tid != MODEL_NOBODY &&
                        (thread->state != MODEL_RUNNING || limits[thread->cpu] >= range->to);

        accumulator->rows[i].until = range->to;
        accumulator->rows[i].last = is_known ? node_kind(thread) : NODE_ABSENT;
    }
}

static void walk_part(struct cover_visitor *cover)
{
    struct accumulator *accumulator = OUTER(cover, struct accumulator, cover);

    for (uint32_t i = 0; i < accumulator->lanes->thread_count; i++)
        add_rest(accumulator, &accumulator->rows[i], cover->begin); /* the walk reports all of its part */
    accumulator->range = (struct walk_range){.from = cover->begin,
                                             .to = cover->end,
                                             .observer = &accumulator->observer,
                                             .event = accumulator->node.events != NULL ? on_event : NULL,
                                             .end = note_states};
    walk_range(&accumulator->range, &accumulator->view->trace, &accumulator->view->index);
}

/* ---- runs ------------------------------------------------------------------------------------------ */

static uint8_t percent(float part, double whole)
{
    double share = 100.0 * part / whole + 0.5;

    return share > 100 ? 100 : (uint8_t)share;
}

static void add_run(struct buffer *runs, const struct lane_run *run)
{
    size_t count = lane_count(runs, sizeof(*run));
    struct lane_run *last = count > 0 ? (struct lane_run *)runs->bytes + count - 1 : NULL;

    if (last != NULL && last->what == run->what &&
        memcmp(last->shares, run->shares, sizeof(run->shares)) == 0)
        last->pixels++;
    else
        buffer_add(runs, run, sizeof(*run));
}

static void make_cpu_runs(const struct accumulator *accumulator, struct lane *lane)
{
    for (uint32_t i = 0; i < accumulator->lanes->width; i++) {
        const struct cpu_pixel *pixel = &accumulator->cpus[lane->number][i];
        struct lane_run run = {.pixels = 1, .what = LANES_NOBODY};
        unsigned most = 0;

        for (unsigned rival = 1; rival < RIVALS; rival++)
            most = pixel->ran[rival] > pixel->ran[most] ? rival : most;
        if (pixel->ran[most] > 0)
            run.what = pixel->threads[most];
        for (int kind = 0; kind < CPU_KINDS; kind++)
            run.shares[kind] = percent(pixel->ticks[kind], accumulator->pixel);
        add_run(&lane->runs, &run);
    }
}

static void make_thread_runs(const struct accumulator *accumulator, const struct thread_row *row,
                             struct lane *lane)
{
    for (uint32_t i = 0; i < accumulator->lanes->width; i++) {
        const float *ticks = row->pixels[i];
        struct lane_run run = {.pixels = 1, .what = MODEL_STATES};
        float most = 0;

        for (int kind = NODE_USER; kind <= NODE_READY; kind++)
            run.shares[kind] = percent(ticks[kind], accumulator->pixel);
        for (int kind = NODE_READY + 1; kind < NODE_KINDS; kind++)
            if (ticks[kind] > most) {
                most = ticks[kind];
                run.what = (uint32_t)kind - NODE_READY + MODEL_READY;
            }
        add_run(&lane->runs, &run);
    }
}

/* ---- all lanes ------------------------------------------------------------------------------------- */

static void open_pixels(struct accumulator *accumulator, const struct view *view)
{
    struct lanes *lanes = accumulator->lanes;

    accumulator->count = index_thread_count(&view->index);
    accumulator->places = lanes_places(lanes, accumulator->count);
    accumulator->cpus = alloc_zero(lanes_cpu_count(view) + 1, sizeof(accumulator->cpus[0]));
    accumulator->rows = alloc_zero(lanes->thread_count + 1, sizeof(accumulator->rows[0]));
    for (uint32_t i = 0; i < lanes->cpu_count; i++)
        accumulator->cpus[lanes->cpus[i].number] = alloc_zero(lanes->width, sizeof(struct cpu_pixel));
    for (uint32_t i = 0; i < lanes->thread_count; i++)
        accumulator->rows[i] = (struct thread_row){alloc_zero(lanes->width, sizeof(float[NODE_KINDS])),
                                                   NODE_ABSENT, lanes->from};
}

static void close_pixels(struct accumulator *accumulator)
{
    for (uint32_t i = 0; i < accumulator->lanes->cpu_count; i++)
        free(accumulator->cpus[accumulator->lanes->cpus[i].number]);
    for (uint32_t i = 0; i < accumulator->lanes->thread_count; i++)
        free(accumulator->rows[i].pixels);
    free(accumulator->cpus);
    free(accumulator->rows);
    free(accumulator->places);
}

static void add_all(struct accumulator *accumulator)
{
    const struct lanes *lanes = accumulator->lanes;
    const struct index *index = &accumulator->view->index;
    uint64_t grain = accumulator->pixel > 1 ? (uint64_t)accumulator->pixel : 1;

    accumulator->cover.begin = accumulator->cover.end = lanes->from;
    if (lanes->from > index->begin)
        walk_part(&accumulator->cover);
    cover_range(&accumulator->cover, index, lanes->from, lanes->to, grain, WALK_BUDGET);
}

void lanes_sum(struct lanes *lanes, const struct view *view)
{
    struct accumulator accumulator = {
        .observer = {.segment = on_segment},
        .cover = {.node = visit_node, .walk = walk_part},
        .node = {visit_cpu, visit_ran, visit_thread, lanes->marked != NULL ? visit_events : NULL},
        .lanes = lanes,
        .view = view,
        .pixel = (double)(lanes->to - lanes->from) / lanes->width};

    open_pixels(&accumulator, view);
    add_all(&accumulator);
    for (uint32_t i = 0; i < lanes->thread_count; i++) {
        add_rest(&accumulator, &accumulator.rows[i], lanes->to);
        make_thread_runs(&accumulator, &accumulator.rows[i], &lanes->threads[i]);
    }
    for (uint32_t i = 0; i < lanes->cpu_count; i++)
        make_cpu_runs(&accumulator, &lanes->cpus[i]);
    close_pixels(&accumulator);
}
