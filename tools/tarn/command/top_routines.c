/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top_routines.c - `tarn top --routines`: what processes do with their time, by tables of routines instead
 * of a trace.
 *
 * The tables of two moments make an interval: of a source read every so often, of a file its snapshots one
 * after another. top/shares.h makes the table.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/command/row_options.h>
#include <tools/tarn/command/top.h>
#include <tools/tarn/tables/recorded.h>
#include <tools/tarn/top/shares.h>
#include <tools/tarn/top/terminal.h>

#define WIDTH_BATCH 100u
#define ROWS_BATCH  20u

static const char keys_help[] = "q quit  s sort  +/- interval  space pause  h hide help";

struct moments {
    struct top *top;
    struct source *source; /* NULL: a file */
    struct recorded file;
    size_t next; /* snapshot of the file */
    struct routines now, before;
    bool has_interval; /* there are two moments */
    bool is_at_end;
};

/* ---- moments --------------------------------------------------------------------------------------- */

static bool open_moments(struct moments *moments, struct top *top, struct fail *fail)
{
    *moments = (struct moments){.top = top};
    if (!top->is_source)
        return recorded_open(&moments->file, top->name, fail);
    moments->source = open_source(top->name, 0, fail);
    return moments->source != NULL;
}

static void close_moments(struct moments *moments)
{
    if (moments->source != NULL)
        moments->source->class->close(moments->source);
    else if (moments->file.path != NULL)
        recorded_close(&moments->file);
    routines_free(&moments->now);
    routines_free(&moments->before);
}

static bool read_moment(struct moments *moments, struct routines *routines, struct fail *fail)
{
    if (moments->source == NULL)
        return recorded_load(&moments->file, moments->next++, routines, fail);
    if (!routines_read(routines, moments->source, fail))
        return false;
    if (routines->count > 0)
        return true;
    return fail_set(fail, ROUTINES_ARE_OFF);
}

/* Takes the next moment as the end of an interval. False: FAIL, or the file has no other. */
static bool step(struct moments *moments, struct fail *fail)
{
    struct routines routines;

    moments->is_at_end = moments->source == NULL && moments->next == moments->file.count;
    if (moments->is_at_end || !read_moment(moments, &routines, fail))
        return false;
    routines_free(&moments->before);
    moments->has_interval = moments->now.count > 0;
    moments->before = moments->now;
    moments->now = routines;
    return true;
}

/* ---- batch ----------------------------------------------------------------------------------------- */

static struct shares_view view_of(const struct top *top)
{
    return (struct shares_view){.source = top->name, .pattern = top->pattern, .sort = top->screen.sort};
}

static void print_interval(const struct moments *moments, long done)
{
    const struct top *top = moments->top;
    const struct shares_view view = view_of(top);
    const uint64_t rows = top->rows > 0 ? top->rows : UINT64_MAX;

    if (done > 0 && top->format != ANALYSIS_JSON)
        putchar('\n');
    if (top->format == ANALYSIS_TEXT)
        shares_print(stdout, &view, &moments->now, &moments->before, WIDTH_BATCH, 0,
                     top->rows > 0 ? top->rows : ROWS_BATCH);
    else
        shares_write(stdout, &view, &moments->now, &moments->before, top->format, rows);
    fflush(stdout);
}

static bool run_batch(struct moments *moments, struct fail *fail)
{
    const struct top *top = moments->top;
    double due = now_seconds();
    bool ok = step(moments, fail);

    for (long done = 0; ok && (top->batch == 0 || done < (long)top->batch); done++) {
        due += top->interval;
        ok = (moments->source == NULL || rows_wait(moments->source, due, fail)) && step(moments, fail);
        if (ok)
            print_interval(moments, done);
    }
    return ok || moments->is_at_end;
}

/* ---- a terminal ------------------------------------------------------------------------------------ */

static void draw(const struct moments *moments)
{
    struct top *top = moments->top;
    struct shares_view view = view_of(top);
    unsigned width, height;
    size_t length;
    char *text = NULL;
    FILE *to = open_memstream(&text, &length);

    terminal_size(&width, &height);
    view.state = top->is_paused ? "paused" : moments->is_at_end ? "end of the file" : NULL;
    view.line = top->has_help ? keys_help : NULL;
    if (moments->has_interval)
        shares_print(to, &view, &moments->now, &moments->before, width, height, 0);
    else
        fprintf(to, "%s: waiting for %.1f s ... (q quits)\n", top->name, top->interval);
    fclose(to);
    terminal_draw(text);
    free(text);
}

/* Returns false to quit. */
static bool take_key(struct top *top, int key)
{
    if (key != 's')
        return top_take_key(top, key);
    top->screen.sort = top->screen.sort == SORT_RUNNING ? SORT_READY
                       : top->screen.sort == SORT_READY ? SORT_NAME
                                                        : SORT_RUNNING;
    return true;
}

/* Waits for a key, or until the next interval, with a request now and then for the link. */
static bool wait_for_key(struct moments *moments, double due, bool *goes_on, struct fail *fail)
{
    const double left = moments->top->is_paused ? ROWS_SILENCE_SECONDS : due - now_seconds();
    const int key = terminal_key(left < ROWS_SILENCE_SECONDS ? left : ROWS_SILENCE_SECONDS);

    *goes_on = key >= 0 && take_key(moments->top, key);
    return moments->source == NULL || left < ROWS_SILENCE_SECONDS || rows_keep_link(moments->source, fail);
}

static bool run_terminal(struct moments *moments, struct fail *fail)
{
    double due = 0;
    bool ok = true, goes_on = true;

    if (!terminal_open(fail))
        return false;
    while (ok && goes_on) {
        if (!moments->top->is_paused && now_seconds() >= due) {
            ok = step(moments, fail) || moments->is_at_end;
            due = now_seconds() + moments->top->interval;
        }
        if (ok) {
            draw(moments);
            ok = wait_for_key(moments, due, &goes_on, fail);
        }
    }
    terminal_close();
    return ok;
}

/* ---- running --------------------------------------------------------------------------------------- */

int top_routines(struct top *top)
{
    struct moments moments = {.top = top};
    struct fail fail = {""};

    if (top->screen.sort == SORT_SWITCHES || top->screen.sort == SORT_WAKEUPS) {
        complain("top: --routines sorts by running, ready or name");
        return EXIT_USAGE;
    }
    bool ok = open_moments(&moments, top, &fail);
    if (ok && moments.source == NULL && moments.file.count < 2)
        ok = fail_set(&fail, "%s has one snapshot only: there is no interval; `tarn routines` shows it",
                      top->name);
    ok = ok && (top->batch >= 0 ? run_batch(&moments, &fail) : run_terminal(&moments, &fail));
    if (ok && moments.source == NULL && moments.file.is_damaged)
        complain("%s", moments.file.why.text);
    const int status = !ok                       ? fail_report(&fail, EXIT_DAMAGE)
                       : moments.file.is_damaged ? EXIT_DAMAGE
                                                 : EXIT_OK;
    close_moments(&moments);
    return status;
}
