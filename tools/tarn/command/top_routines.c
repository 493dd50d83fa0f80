/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top_routines.c - `tarn top --routines`: what processes do with their time, by tables of routines instead
 * of a trace.
 *
 * The tables of two moments, read from the source every so often, make an interval. top/shares.h makes the
 * table.
 */
#include <stdio.h>
#include <stdlib.h>
#include <tools/tarn/command/row_options.h>
#include <tools/tarn/command/top.h>
#include <tools/tarn/top/shares.h>

#define ROWS_BATCH 20u

struct moments {
    struct source *source;
    double due;    /* now_seconds() when the source is read again; 0: now */
    double silent; /* now_seconds() from which on the link gets a request */
    struct routines now, before;
};

/* ---- intervals ------------------------------------------------------------------------------------- */

static bool read_moment(struct moments *moments, struct routines *routines, struct fail *fail)
{
    return routines_read(routines, moments->source, fail) &&
           (routines->count > 0 || fail_set(fail, ROUTINES_ARE_OFF));
}

/* Sends the link a request now and then, so that the guest does not end it. */
static bool keep_link(struct top *top, struct fail *fail)
{
    struct moments *moments = top->moments;

    if (now_seconds() < moments->silent)
        return true;
    moments->silent = now_seconds() + ROWS_SILENCE_SECONDS / 2;
    return rows_keep_link(moments->source, fail);
}

/* Takes the next moment as the end of an interval. */
static int next_interval(struct top *top, struct fail *fail)
{
    struct moments *moments = top->moments;
    struct routines routines;
    const bool is_first = moments->now.count == 0;
    const double now = now_seconds();

    fail->text[0] = '\0';
    if (now < moments->due)
        return keep_link(top, fail) ? 0 : -1;
    moments->due += moments->due + top->interval > now ? top->interval : now - moments->due + top->interval;
    moments->silent = now + ROWS_SILENCE_SECONDS / 2;
    if (!read_moment(moments, &routines, fail))
        return -1;
    routines_free(&moments->before);
    moments->before = moments->now;
    moments->now = routines;
    top->has_screen = !is_first;
    return is_first ? 0 : 1;
}

/* ---- output ---------------------------------------------------------------------------------------- */

static void print_interval(FILE *to, const struct top *top, unsigned width, unsigned height)
{
    shares_print(to, &top->screen, &top->moments->now, &top->moments->before, width, height,
                 table_top(&top->tables, ROWS_BATCH));
}

static void write_interval(FILE *to, const struct top *top)
{
    shares_write(to, &top->screen, &top->moments->now, &top->moments->before, &top->tables);
}

/* Nothing is pulled, so nothing is lost. */
static int status_of(struct top *top)
{
    (void)top;
    return EXIT_OK;
}

static const struct top_ways ways = {.keys =
                                         "q quit  s sort  f filter  +/- interval  space pause  h hide help",
                                     .end = "end of the file",
                                     .next = next_interval,
                                     .keep = keep_link,
                                     .print = print_interval,
                                     .write = write_interval,
                                     .status = status_of};

/* ---- begin and end --------------------------------------------------------------------------------- */

bool top_begin_routines(struct top *top, struct fail *fail)
{
    struct moments *moments = top->moments = alloc_zero(1, sizeof(*moments));

    top->ways = &ways;
    return (moments->source = open_source(top->name, 0, fail)) != NULL;
}

void top_close_routines(struct top *top)
{
    struct moments *moments = top->moments;

    if (moments == NULL)
        return;
    if (moments->source != NULL)
        moments->source->class->close(moments->source);
    routines_free(&moments->now);
    routines_free(&moments->before);
    free(moments);
}
