/* SPDX-License-Identifier: BSD-2-Clause */
/* show.c - prints profiles of routines. Interface: show.h. */
#include <arch/trace.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <trace/events.h>
#include <trace/print/routines.h>
#include <user/tarnprof/show.h>

static uint64_t clock_hz; /* of the sum that is shown */

static double in_us(uint64_t ticks)
{
    return (double)ticks * 1e6 / (double)clock_hz;
}

static int compare_exclusive(const void *a, const void *b)
{
    const struct trace_profile_row *one = a, *other = b;
    return (one->exclusive < other->exclusive) - (one->exclusive > other->exclusive);
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

/* Percent of the time on CPUs; of what was not, there is none. */
static void show_row(const struct trace_profile_row *row, uint64_t ran)
{
    char name[TRACE_ROUTINE_NAME_BYTES];
    const enum trace_routine_kind kind = trace_routine_kind(row->key);
    trace_routine_name(row->key, trace_event_find, name);
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
    printf("  %s", name);
    if (trace_routine_context(row->key))
        printf(" in routine %u", (unsigned)trace_routine_context(row->key));
    putchar('\n');
}

void tarnprof_show(struct tarnprof_sum *sum, uint32_t lines)
{
    const uint64_t ran = sum->life - time_out(sum);
    clock_hz = sum->clock_hz ? sum->clock_hz : arch_trace_info()->clock_hz;
    printf("threads %u, life %.1f us, on CPUs %.1f us\n", (unsigned)sum->threads, in_us(sum->life),
           in_us(ran));
    printf("%12s %6s %9s %12s %9s %9s %10s  %s\n", "own us", "%", "count", "total us", "mean", "min", "max",
           "routine");
    if (sum->count)
        qsort(sum->rows, sum->count, sizeof *sum->rows, compare_exclusive);
    for (uint32_t i = 0; i < sum->count && i < lines; i++)
        show_row(&sum->rows[i], ran);
    if (sum->count > lines)
        printf("%u more routines\n", (unsigned)(sum->count - lines));
}
