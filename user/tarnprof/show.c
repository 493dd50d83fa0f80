/* SPDX-License-Identifier: BSD-2-Clause */
/* show.c - prints tables of routines. Interface: show.h. */
#include <arch/trace.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/error.h>
#include <trace/events.h>
#include <user/tarnprof/show.h>

static double in_us(uint64_t ticks)
{
    return (double)ticks * 1e6 / (double)arch_trace_info()->clock_hz;
}

static int compare_exclusive(const void *a, const void *b)
{
    const struct trace_routine_row *one = a, *other = b;
    return (one->exclusive < other->exclusive) - (one->exclusive > other->exclusive);
}

static double percent_of(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Percent of the time on CPUs; of what was not, there is none. */
static void show_row(FILE *file, const struct trace_routine_row *row, const struct trace_routine_names *names,
                     uint64_t ran)
{
    char name[TRACE_ROUTINE_NAME_BYTES];
    const enum trace_routine_kind kind = trace_routine_kind(row->key);
    const uint32_t context = trace_routine_context(row->key);
    fprintf(file, "%12.1f ", in_us(row->exclusive));
    if (kind == TRACE_ROUTINE_OUT || kind == TRACE_ROUTINE_SERVED)
        fprintf(file, "%6s ", "-");
    else
        fprintf(file, "%6.2f ", percent_of(row->exclusive, ran));
    if (row->ended)
        fprintf(file, "%9" PRIu64 " %12.1f %9.2f %9.2f %10.2f", row->ended, in_us(row->inclusive),
                in_us(row->inclusive) / (double)row->ended, in_us(row->least), in_us(row->greatest));
    else
        fprintf(file, "%9s %12s %9s %9s %10s", "-", "-", "-", "-", "-");
    fprintf(file, "  %s", trace_row_name(row->key, names, trace_event_find, name));
    if (context && kind != TRACE_ROUTINE_PROGRAM)
        fprintf(file, " in %s", trace_context_name(context, names, trace_event_find, name));
    fputc('\n', file);
}

void tarnprof_show(FILE *file, struct tarnprof_sum *sum, uint32_t lines)
{
    struct trace_routine_names names = {0};
    const int error = tarnprof_read_names(&names); /* without names, numbers are printed */
    if (error)
        fprintf(stderr, "names of programs' routines are missing: %s\n", tarn_error_text(error));
    const uint64_t ran = sum->life - trace_routines_time(sum->rows, sum->count, TRACE_ROUTINES_OUT);
    fprintf(file, "threads %u, life %.1f us, on CPUs %.1f us\n", (unsigned)sum->threads, in_us(sum->life),
            in_us(ran));
    if (sum->refused)
        fprintf(file,
                "%" PRIu64 " entries into routines of programs count as part of their callers: "
                "too many names, too many routines of a thread, or nested too deep\n",
                sum->refused);
    fprintf(file, "%12s %6s %9s %12s %9s %9s %10s  %s\n", "own us", "%", "count", "total us", "mean", "min",
            "max", "routine");
    if (sum->count)
        qsort(sum->rows, sum->count, sizeof *sum->rows, compare_exclusive);
    for (uint32_t i = 0; i < sum->count && i < lines; i++)
        show_row(file, &sum->rows[i], &names, ran);
    if (sum->count > lines)
        fprintf(file, "%u more routines\n", (unsigned)(sum->count - lines));
    tarnprof_free_names(&names);
}

void tarnprof_show_own(FILE *file)
{
    struct tarnprof_sum sum = {0};
    const int result =
        tarnprof_add_all(&sum, TARNPROF_OWN, 1u << TRACE_ROUTINES_THREAD | 1u << TRACE_ROUTINES_ENDED);
    if (result)
        fprintf(file, "the table cannot be read: %s\n", tarn_error_text(result));
    else
        tarnprof_show(file, &sum, UINT32_MAX);
    tarnprof_free_sum(&sum);
}
