/* SPDX-License-Identifier: BSD-2-Clause */
/* show.c - prints tables of routines. Interface: show.h. */
#include <arch/trace.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/error.h>
#include <trace/events.h>
#include <user/tarnprof/show.h>

static uint64_t clock_hz; /* of the sum that is shown */

static double in_us(uint64_t ticks)
{
    return (double)ticks * 1e6 / (double)clock_hz;
}

static int compare_exclusive(const void *a, const void *b)
{
    const struct trace_routine_row *one = a, *other = b;
    return (one->exclusive < other->exclusive) - (one->exclusive > other->exclusive);
}

static void sort_rows(struct tarnprof_sum *sum)
{
    if (sum->count)
        qsort(sum->rows, sum->count, sizeof *sum->rows, compare_exclusive);
}

static double percent_of(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static uint64_t time_out(const struct tarnprof_sum *sum)
{
    uint64_t time = 0;
    for (uint32_t i = 0; i < sum->count; i++)
        if (trace_routine_kind(sum->rows[i].key) == TRACE_ROUTINE_OUT)
            time += sum->rows[i].exclusive;
    return time;
}

/* Those of the sum's file, else of this system. Without names, numbers are printed. */
static const struct trace_routine_names *read_names(struct tarnprof_sum *sum)
{
    const int error = sum->names.list || sum->clock_hz ? 0 : tarnprof_read_names(&sum->names);
    if (error)
        fprintf(stderr, "names of programs' routines are missing: %s\n", tarn_error_text(error));
    return &sum->names;
}

/* Percent of the time on CPUs; of what was not, there is none. */
static void show_row(const struct trace_routine_row *row, const struct trace_routine_names *names,
                     uint64_t ran)
{
    char name[TRACE_ROUTINE_NAME_BYTES];
    const enum trace_routine_kind kind = trace_routine_kind(row->key);
    const uint32_t context = trace_routine_context(row->key);
    printf("%12.1f ", in_us(row->exclusive));
    if (kind == TRACE_ROUTINE_OUT || kind == TRACE_ROUTINE_SERVED)
        printf("%6s ", "-");
    else
        printf("%6.2f ", percent_of(row->exclusive, ran));
    if (row->ended)
        printf("%9" PRIu64 " %12.1f %9.2f %9.2f %10.2f", row->ended, in_us(row->inclusive),
               in_us(row->inclusive) / (double)row->ended, in_us(row->least), in_us(row->greatest));
    else
        printf("%9s %12s %9s %9s %10s", "-", "-", "-", "-", "-");
    printf("  %s", trace_row_name(row->key, names, trace_event_find, name));
    if (context && kind != TRACE_ROUTINE_PROGRAM)
        printf(" in %s", trace_context_name(context, names, trace_event_find, name));
    putchar('\n');
}

static void warn_refused(FILE *file, uint64_t refused)
{
    if (refused)
        fprintf(file,
                "%" PRIu64 " entries into routines of programs count as part of their callers: "
                "too many names, too many routines of a thread, or nested too deep\n",
                refused);
}

void tarnprof_show(struct tarnprof_sum *sum, uint32_t lines)
{
    const struct trace_routine_names *names = read_names(sum);
    const uint64_t ran = sum->life - time_out(sum);
    clock_hz = sum->clock_hz ? sum->clock_hz : arch_trace_info()->clock_hz;
    printf("threads %u, life %.1f us, on CPUs %.1f us\n", (unsigned)sum->threads, in_us(sum->life),
           in_us(ran));
    warn_refused(stdout, sum->refused);
    printf("%12s %6s %9s %12s %9s %9s %10s  %s\n", "own us", "%", "count", "total us", "mean", "min", "max",
           "routine");
    sort_rows(sum);
    for (uint32_t i = 0; i < sum->count && i < lines; i++)
        show_row(&sum->rows[i], names, ran);
    if (sum->count > lines)
        printf("%u more routines\n", (unsigned)(sum->count - lines));
}

/* ---- Merged ---- */

static void show_time(FILE *file, const struct trace_routine_row *row)
{
    fprintf(file, "%12.1f %9" PRIu64 " %12.1f  ", in_us(row->exclusive), row->ended, in_us(row->inclusive));
}

static void show_kernel_rows(FILE *file, const struct tarnprof_sum *sum, uint32_t context)
{
    char name[TRACE_ROUTINE_NAME_BYTES];
    for (uint32_t i = 0; i < sum->count; i++) {
        const struct trace_routine_row *row = &sum->rows[i];
        if (trace_routine_context(row->key) != context ||
            trace_routine_kind(row->key) == TRACE_ROUTINE_PROGRAM)
            continue;
        show_time(file, row);
        fprintf(file, "  %s\n", trace_routine_name(row->key, trace_event_find, name));
    }
}

void tarnprof_show_merged(FILE *file, struct tarnprof_sum *sum)
{
    const struct trace_routine_names *names = read_names(sum);
    char name[TRACE_ROUTINE_NAME_BYTES];
    clock_hz = sum->clock_hz ? sum->clock_hz : arch_trace_info()->clock_hz;
    sort_rows(sum);
    warn_refused(file, sum->refused);
    fprintf(file, "%12s %9s %12s  %s\n", "own us", "count", "total us", "routine");
    for (uint32_t i = 0; i < sum->count; i++) {
        const struct trace_routine_row *row = &sum->rows[i];
        if (trace_routine_kind(row->key) != TRACE_ROUTINE_PROGRAM)
            continue;
        show_time(file, row);
        fprintf(file, "%s\n", trace_row_name(row->key, names, trace_event_find, name));
        show_kernel_rows(file, sum, trace_routine_context(row->key));
    }
}

void tarnprof_show_own(FILE *file)
{
    struct tarnprof table = {0};
    struct tarnprof_sum sum = {0};
    int result;
    while ((result = tarnprof_next(&table, TARNPROF_OWN)) > 0)
        if (table.head->of != TRACE_ROUTINES_CHILDREN && !tarnprof_add(&sum, &table))
            break;
    if (result)
        fprintf(file, "the table cannot be read: %s\n", tarn_error_text(result < 0 ? result : -E_NO_MEMORY));
    else
        tarnprof_show_merged(file, &sum);
    tarnprof_free_sum(&sum);
    tarnprof_free(&table);
}
