/*
 * top_trace.c - the trace of `tarn top` and its link; see top.h.
 *
 * A separate process pulls from the guest (view/puller.h) into a directory, which is followed like any
 * growing trace. The last interval ends a little before the newest packets, so that the packets of all CPUs
 * up to then have arrived.
 *
 * Each event is read once: at the end of an interval, the model and the positions in the streams are saved,
 * and the next interval continues from there.
 */
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/command/top.h>
#include <tools/tarn/model/walk.h>
#include <tools/tarn/read/judge.h>
#include <tools/tarn/source/source.h>
#include <unistd.h>

#define LAG_SECONDS 1.3 /* traced sends partly filled packets after one second */
#define OLD_SECONDS 1.0 /* for events that were in the guest's buffers when the pull began */

/* ---- consecutive intervals ---- */

static void go_on(struct top *top, struct model *model, struct merge *merge, struct reporter *reporter)
{
    const struct intervals *intervals = &top->intervals;
    if (intervals->model.used == 0) {
        merge_open(merge, &top->trace, NULL, 0, reporter);
        return;
    }
    merge_open_at(merge, &top->trace, intervals->positions, reporter);
    names_copy(&model->names, &intervals->names); /* the saved model has none */
    model_restore(model, intervals->model.bytes, intervals->model.used);
}

static void keep(struct intervals *intervals, const struct model *model, const struct merge *merge)
{
    intervals->model.used = 0;
    model_save(model, &intervals->model);
    merge_save(merge, intervals->positions);
    names_copy(&intervals->names, &model->names);
}

/* Walks on to TO, and computes ANALYSES for that time. */
static bool walk(struct top *top, uint64_t to, struct analysis **analyses, unsigned count,
                 struct reporter *reporter, struct fail *fail)
{
    struct filter filter = {.from_ticks = top->intervals.from, .to_ticks = to};
    struct model model;
    struct merge merge;
    bool ok;
    model_open(&model, &top->trace, filter.from_ticks, to);
    go_on(top, &model, &merge, reporter);
    ok = analyses_open(analyses, count, &model, &filter, NULL, fail);
    if (ok) {
        model_walk(&model, &merge);
        keep(&top->intervals, &model, &merge);
        model_finish_range(&model, &merge);
        analyses_finish(analyses, count);
        top->intervals.from = to;
    }
    merge_close(&merge);
    model_close(&model);
    return ok;
}

/* ---- the trace ---- */

static void forget_screen(struct top *top)
{
    for (unsigned i = 0; i < SCREEN_ANALYSES; i++)
        if (top->screen.analyses[i] != NULL)
            analysis_free(top->screen.analyses[i]);
    memset(top->screen.analyses, 0, sizeof(top->screen.analyses));
    top->has_screen = false;
}

void top_close(struct top *top)
{
    forget_screen(top);
    if (top->is_open) {
        names_close(&top->intervals.names);
        free(top->intervals.positions);
        free(top->intervals.model.bytes);
        trace_close(&top->trace);
    }
    top->is_open = false;
}

static bool open_trace(struct top *top, const char *directory, struct fail *fail)
{
    top_close(top);
    if (!trace_open(&top->trace, directory, fail))
        return false;
    trace_cut_partial(&top->trace);
    top->intervals = (struct intervals){.from = top->trace.begin};
    top->intervals.positions = alloc_zero(top->trace.stream_count + 1, sizeof(struct position));
    names_open(&top->intervals.names, &top->trace.schema);
    return top->is_open = true;
}

static void begin_losses(struct top *top)
{
    struct losses *all = &top->screen.all;
    losses_open(all, &top->trace);
    model_lacks(&top->trace.schema, false, all->lacks, sizeof(all->lacks));
}

/* A file that ends within a packet is damaged, unless it is still being written. */
int top_status(struct top *top)
{
    struct losses *all = &top->screen.all;
    if (top->is_open && !top->is_source) {
        all->damaged += trace_count_partial(&top->trace);
        losses_judge(all);
    }
    losses_summary(all);
    losses_durations(all);
    if (!top->has_broken)
        return top->is_source ? EXIT_OK : losses_status(all);
    complain("%s: the link to the guest broke", top->name);
    return EXIT_DAMAGE;
}

static uint64_t ticks_of(const struct top *top, double seconds)
{
    return (uint64_t)(seconds * (double)top->trace.schema.clock_freq);
}

bool top_is_live(struct top *top)
{
    return top->is_source && puller_runs(&top->puller);
}

/* Returns the time up to which the trace is complete. */
static uint64_t known_until(struct top *top)
{
    uint64_t lag = top_is_live(top) ? ticks_of(top, LAG_SECONDS) : 0, end = top->trace.end + 1;
    return end > top->trace.begin + lag ? end - lag : top->trace.begin;
}

/* Walks to TO without running analyses. */
static bool skip(struct top *top, uint64_t to, struct fail *fail)
{
    return to <= top->intervals.from || walk(top, to, NULL, 0, NULL, fail);
}

/* Reads new packets. After a new stream the trace is opened again, and all of it is walked up to the same
 * time. */
static bool refresh(struct top *top, struct fail *fail)
{
    uint64_t from, shown = top->intervals.from;
    bool has_begun = top->intervals.model.used != 0;
    if (trace_refresh(&top->trace, &from) != TRACE_CHANGED)
        return true;
    return open_trace(top, top->puller.directory[0] != '\0' ? top->puller.directory : top->name, fail) &&
           (!has_begun || skip(top, shown, fail));
}

/* ---- the link ---- */

bool top_link_broke(struct top *top)
{
    return top->is_source && !puller_runs(&top->puller) && top->puller.status != EXIT_OK;
}

bool top_launch(struct top *top, struct fail *fail)
{
    if (top->log != NULL) { /* keep messages of the last attempt only */
        rewind(top->log);
        if (ftruncate(fileno(top->log), 0) != 0)
            return fail_set(fail, "cannot write a temporary file");
        top->puller.log = fileno(top->log);
    }
    return puller_launch(&top->puller, top->name, top->output, fail);
}

bool top_try_again(struct top *top, struct fail *fail)
{
    if (top->output != NULL)
        return true; /* the requested trace ends here */
    if (!puller_runs(&top->puller)) {
        puller_stop(&top->puller);
        return top_launch(top, fail);
    }
    if (!puller_has_begun(&top->puller))
        return true;
    top->has_broken = false;
    top->old_until = 0;
    top->at = -1;
    top->came = now_seconds();
    if (!open_trace(top, top->puller.directory, fail))
        return false;
    begin_losses(top);
    return true;
}

/* ---- an interval ---- */

static bool ask(struct top *top, uint64_t to, struct fail *fail)
{
    forget_screen(top);
    for (unsigned i = 0; i < SCREEN_ANALYSES; i++)
        top->screen.analyses[i] = analysis_new(analysis_find(screen_analyses[i]));
    losses_open(&top->screen.losses, &top->trace);
    top->screen.losses.quiet = true;
    top->screen.losses.is_unfinished = trace_is_unfinished(&top->trace) && to > trace_known_end(&top->trace);
    if (!screen_choose(top->screen.analyses, fail) ||
        !walk(top, to, top->screen.analyses, SCREEN_ANALYSES, &top->screen.losses.reporter, fail))
        return false;
    losses_add(&top->screen.all, &top->screen.losses);
    top->screen.behind =
        top_is_live(top) ? (double)(top->trace.end - to) / (double)top->trace.schema.clock_freq : -1;
    return top->has_screen = true;
}

bool top_begin(struct top *top, struct fail *fail)
{
    uint64_t at;
    top->is_connecting = false;
    if (!open_trace(top, top->is_source ? top->puller.directory : top->name, fail))
        return false;
    begin_losses(top);
    at = top->at >= 0 ? top->trace.begin + ticks_of(top, top->at) : top->trace.begin;
    if (top->at >= 0 && !top->is_source && at >= top->trace.end)
        return fail_set(fail, "the trace ends before %g s", top->at);
    top->came = now_seconds();
    return skip(top, at, fail);
}

bool top_connect(struct top *top, struct fail *fail)
{
    if (puller_has_begun(&top->puller))
        return top_begin(top, fail);
    return puller_runs(&top->puller) || fail_set(fail, "nothing came from %s", top->name);
}

/* Skips what the guest logged before the pull. Returns false while such data is still expected, or if FAIL is
 * set. */
static bool pass_old(struct top *top, uint64_t until, struct fail *fail)
{
    double now = now_seconds();
    if (top->old_until < 0)
        return true;
    if (top->old_until == 0)
        top->old_until = now + OLD_SECONDS;
    if (now < top->old_until || !skip(top, until, fail))
        return false;
    top->old_until = -1;
    return true;
}

int top_next(struct top *top, struct fail *fail)
{
    uint64_t span, until, from;
    fail->text[0] = '\0';
    if (!refresh(top, fail))
        return -1;
    if (top->trace.stream_count == 0)
        return top_is_live(top) || top->is_source ? 0 : -1;
    until = known_until(top);
    if (top_is_live(top) && top->at < 0 && !pass_old(top, until, fail))
        return fail->text[0] != '\0' ? -1 : 0;
    span = ticks_of(top, top->interval);
    from = top->intervals.from > top->trace.begin ? top->intervals.from : top->trace.begin;
    if (until < from + span && (top_is_live(top) || until <= from))
        return top_is_live(top) ? 0 : -1;
    /* The rest of a finished trace is the last interval. A live top that is behind skips intervals. */
    if (until < from + span)
        span = until - from;
    if (top_is_live(top) && top->batch < 0 && until > from + 2 * span && !skip(top, until - span, fail))
        return -1;
    from = top->intervals.from > top->trace.begin ? top->intervals.from : top->trace.begin;
    return ask(top, from + span, fail) ? 1 : -1;
}
