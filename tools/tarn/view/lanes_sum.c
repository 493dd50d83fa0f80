/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lanes_sum.c - lanes of a long range, from the index: shares of time per pixel; see lanes.h.
 *
 * The range is split into pieces (cover.h). The times in a node are spread evenly over its pixels, usually
 * one. A walk to the start of the range finds the state of each thread there.
 */
#include <stdlib.h>
#include <tools/tarn/view/cover.h>
#include <tools/tarn/view/lanes.h>
#include <tools/tarn/view/walk.h>

#define WALK_BUDGET 200000u /* events, where the index is too coarse */
#define RIVALS      4u      /* threads that compete for a pixel of a CPU */

struct cpu_pixel {
    float ticks[CPU_KINDS];
    float ran[RIVALS];
    uint32_t threads[RIVALS];
};

struct thread_pixel {
    float ticks[NODE_KINDS];
};

struct summer {
    struct model_observer observer; /* of pieces that are walked */
    struct node_visitor visitor;    /* of nodes */
    struct walk_range range;
    struct lanes *lanes;
    double pixel;                  /* ticks */
    uint64_t begin, end;           /* of the current piece */
    uint32_t *cpu_places;          /* lanes by rank */
    uint32_t *places, count;       /* lanes by thread; their number */
    struct cpu_pixel **cpus;       /* by lane: its pixels */
    struct thread_pixel **threads; /* by lane */
    uint8_t *last;                 /* by lane: its state ... */
    uint64_t *until;               /* ... since this time, up to which it is counted */
};

/* ---- pixels ---------------------------------------------------------------------------------------- */

struct spread {
    uint32_t first, last;
    double from, to; /* in pixels */
};

static struct spread spread_of(const struct summer *summer, uint64_t begin, uint64_t end)
{
    struct spread spread = {.from = (double)(begin - summer->lanes->from) / summer->pixel,
                            .to = (double)(end - summer->lanes->from) / summer->pixel};
    uint32_t most = summer->lanes->width - 1;

    spread.first = spread.from < most ? (uint32_t)spread.from : most;
    spread.last = spread.to < most ? (uint32_t)spread.to : most;
    return spread;
}

/* The share of the stretch in PIXEL, 0 to 1. */
static float share_in(const struct spread *spread, uint32_t pixel)
{
    double from = pixel > spread->from ? pixel : spread->from;
    double to = pixel + 1.0 < spread->to ? pixel + 1.0 : spread->to;

    if (spread->first == spread->last)
        return 1;
    return to > from ? (float)((to - from) / (spread->to - spread->from)) : 0;
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

static void add_thread_time(struct summer *summer, uint32_t lane, enum node_kind kind, uint64_t begin,
                            uint64_t end)
{
    struct spread spread = spread_of(summer, begin, end);

    if (kind == NODE_ABSENT || begin >= end)
        return;
    for (uint32_t i = spread.first; i <= spread.last; i++)
        summer->threads[lane][i].ticks[kind] += (float)(end - begin) * share_in(&spread, i);
}

/* ---- nodes ----------------------------------------------------------------------------------------- */

static void visit_cpu(struct node_visitor *visitor, uint32_t rank, const uint64_t ticks[CPU_KINDS])
{
    const struct summer *summer = (struct summer *)((char *)visitor - offsetof(struct summer, visitor));
    uint32_t lane = summer->cpu_places[rank];
    struct spread spread = spread_of(summer, summer->begin, summer->end);

    if (lane == UINT32_MAX)
        return;
    for (uint32_t i = spread.first; i <= spread.last; i++)
        for (int kind = 0; kind < CPU_KINDS; kind++)
            summer->cpus[lane][i].ticks[kind] += (float)ticks[kind] * share_in(&spread, i);
}

static void visit_ran(struct node_visitor *visitor, uint32_t rank, uint32_t thread, uint64_t ticks)
{
    const struct summer *summer = (struct summer *)((char *)visitor - offsetof(struct summer, visitor));
    uint32_t lane = summer->cpu_places[rank];
    struct spread spread = spread_of(summer, summer->begin, summer->end);

    if (lane == UINT32_MAX)
        return;
    for (uint32_t i = spread.first; i <= spread.last; i++)
        add_ran(&summer->cpus[lane][i], thread, (float)ticks * share_in(&spread, i));
}

static void visit_thread(struct node_visitor *visitor, uint32_t number, enum node_kind first,
                         enum node_kind last, const uint64_t ticks[NODE_KINDS])
{
    struct summer *summer = (struct summer *)((char *)visitor - offsetof(struct summer, visitor));
    uint32_t lane = number < summer->count ? summer->places[number] : UINT32_MAX;
    struct spread spread = spread_of(summer, summer->begin, summer->end);

    if (lane == UINT32_MAX)
        return;
    add_thread_time(summer, lane, summer->last[lane], summer->until[lane], summer->begin);
    for (uint32_t i = spread.first; i <= spread.last; i++)
        for (int kind = 0; kind < NODE_KINDS; kind++)
            if (ticks[kind] != 0)
                summer->threads[lane][i].ticks[kind] += (float)ticks[kind] * share_in(&spread, i);
    summer->until[lane] = summer->end;
    summer->last[lane] = (uint8_t)last;
}

/* ---- exact pieces ---------------------------------------------------------------------------------- */

static void take_segment(struct model_observer *self, const struct model_thread *thread, uint64_t from,
                         uint64_t to)
{
    struct summer *summer = (struct summer *)self;
    enum node_kind kind = node_kind(thread);
    uint32_t lane = thread->number < summer->count ? summer->places[thread->number] : UINT32_MAX;

    if (lane != UINT32_MAX)
        add_thread_time(summer, lane, kind, from, to);
    if (kind <= NODE_INTERRUPT && summer->cpu_places[thread->cpu] != UINT32_MAX) {
        struct cpu_pixel *pixels = summer->cpus[summer->cpu_places[thread->cpu]];
        struct spread spread = spread_of(summer, from, to);

        for (uint32_t i = spread.first; i <= spread.last; i++) {
            float ticks = (float)(to - from) * share_in(&spread, i);

            pixels[i].ticks[cpu_kind(thread, kind)] += ticks;
            add_ran(&pixels[i], thread->number, ticks);
        }
    }
}

/* Notes the state of each thread after the piece. */
static void note_states(struct walk_range *range, const struct model *model, const uint64_t *limits)
{
    struct summer *summer = (struct summer *)((char *)range - offsetof(struct summer, range));

    for (uint32_t i = 0; i < summer->lanes->thread_count; i++) {
        uint32_t number = summer->lanes->threads[i].number;
        const struct model_thread *thread = number < model->thread_count ? model->threads[number] : NULL;

        summer->until[i] = range->to;
        summer->last[i] = thread != NULL ? (uint8_t)node_kind(thread) : NODE_ABSENT;
        if (thread != NULL && thread->tid == MODEL_NOBODY)
            summer->last[i] = NODE_ABSENT;
        if (thread != NULL && thread->state == MODEL_RUNNING && limits[thread->cpu] < range->to)
            summer->last[i] = NODE_ABSENT;
    }
}

static bool walk_piece(struct summer *summer, const struct view *view, struct fail *fail)
{
    /* The walk reports all segments of the piece; until then, threads stayed in their state. */
    for (uint32_t i = 0; i < summer->lanes->thread_count; i++)
        add_thread_time(summer, i, summer->last[i], summer->until[i], summer->begin);
    summer->range = (struct walk_range){
        .from = summer->begin, .to = summer->end, .observer = &summer->observer, .end = note_states};
    return walk_range(&summer->range, &view->trace, &view->index, fail);
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

static void make_cpu_runs(const struct summer *summer, uint32_t lane)
{
    for (uint32_t i = 0; i < summer->lanes->width; i++) {
        const struct cpu_pixel *pixel = &summer->cpus[lane][i];
        struct lane_run run = {.pixels = 1, .what = LANES_NOBODY};
        unsigned most = 0;

        for (unsigned rival = 1; rival < RIVALS; rival++)
            most = pixel->ran[rival] > pixel->ran[most] ? rival : most;
        if (pixel->ran[most] > 0)
            run.what = pixel->threads[most];
        for (int kind = 0; kind < CPU_KINDS; kind++)
            run.shares[kind] = percent(pixel->ticks[kind], summer->pixel);
        add_run(&summer->lanes->cpus[lane].runs, &run);
    }
}

static void make_thread_runs(const struct summer *summer, uint32_t lane)
{
    for (uint32_t i = 0; i < summer->lanes->width; i++) {
        const struct thread_pixel *pixel = &summer->threads[lane][i];
        struct lane_run run = {.pixels = 1, .what = MODEL_STATES};
        float most = 0;

        for (int kind = NODE_USER; kind <= NODE_READY; kind++)
            run.shares[kind] = percent(pixel->ticks[kind], summer->pixel);
        for (int kind = NODE_READY + 1; kind < NODE_KINDS; kind++)
            if (pixel->ticks[kind] > most) {
                most = pixel->ticks[kind];
                run.what = (uint32_t)kind - NODE_READY + MODEL_READY;
            }
        add_run(&summer->lanes->threads[lane].runs, &run);
    }
}

/* ---- all lanes ------------------------------------------------------------------------------------- */

static void open_pixels(struct summer *summer, const struct view *view)
{
    struct lanes *lanes = summer->lanes;

    summer->count = index_thread_count(&view->index);
    summer->places = lanes_places(lanes, summer->count);
    summer->cpu_places = alloc_zero(view->trace.stream_count + 1, sizeof(uint32_t));
    memset(summer->cpu_places, 0xff, view->trace.stream_count * sizeof(uint32_t));
    summer->cpus = alloc_zero(lanes->cpu_count + 1, sizeof(summer->cpus[0]));
    summer->threads = alloc_zero(lanes->thread_count + 1, sizeof(summer->threads[0]));
    summer->last = alloc_zero(lanes->thread_count + 1, sizeof(summer->last[0]));
    summer->until = alloc_zero(lanes->thread_count + 1, sizeof(summer->until[0]));
    for (uint32_t i = 0; i < lanes->cpu_count; i++) {
        summer->cpu_places[lanes->cpus[i].number] = i;
        summer->cpus[i] = alloc_zero(lanes->width, sizeof(struct cpu_pixel));
    }
    for (uint32_t i = 0; i < lanes->thread_count; i++) {
        summer->last[i] = NODE_ABSENT;
        summer->until[i] = lanes->from;
        summer->threads[i] = alloc_zero(lanes->width, sizeof(struct thread_pixel));
    }
}

static void close_pixels(struct summer *summer)
{
    for (uint32_t i = 0; i < summer->lanes->cpu_count; i++)
        free(summer->cpus[i]);
    for (uint32_t i = 0; i < summer->lanes->thread_count; i++)
        free(summer->threads[i]);
    free(summer->cpus);
    free(summer->threads);
    free(summer->last);
    free(summer->until);
    free(summer->places);
    free(summer->cpu_places);
}

static bool add_pieces(struct summer *summer, const struct view *view, struct fail *fail)
{
    const struct index *index = &view->index;
    struct cover cover;
    bool fine = true;

    summer->begin = summer->end = summer->lanes->from;
    if (summer->begin > index->begin)
        fine = walk_piece(summer, view, fail);
    cover_range(&cover, index, summer->lanes->from, summer->lanes->to,
                summer->pixel > 1 ? (uint64_t)summer->pixel : 1, WALK_BUDGET);
    for (size_t i = 0; i < cover.count && fine; i++) {
        const struct piece *piece = &cover.pieces[i];

        summer->begin = piece->begin;
        summer->end = piece->end;
        if (piece->is_exact)
            fine = walk_piece(summer, view, fail);
        else if (!node_visit(&summer->visitor, pile_get(&index->levels[piece->level], piece->node),
                             view->trace.stream_count, view->trace.schema.event_count))
            fine = fail_set(fail, "the index is damaged; remove its file");
    }
    cover_free(&cover);
    return fine;
}

bool lanes_sum(struct lanes *lanes, const struct view *view, struct fail *fail)
{
    struct summer summer = {.observer = {.segment = take_segment},
                            .visitor = {visit_cpu, visit_ran, visit_thread, NULL},
                            .lanes = lanes,
                            .pixel = (double)(lanes->to - lanes->from) / lanes->width};
    bool fine;

    open_pixels(&summer, view);
    fine = add_pieces(&summer, view, fail);
    for (uint32_t i = 0; i < lanes->thread_count && fine; i++) {
        add_thread_time(&summer, i, summer.last[i], summer.until[i], lanes->to);
        make_thread_runs(&summer, i);
    }
    for (uint32_t i = 0; i < lanes->cpu_count && fine; i++)
        make_cpu_runs(&summer, i);
    close_pixels(&summer);
    return fine;
}
