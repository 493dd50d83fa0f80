/* SPDX-License-Identifier: BSD-2-Clause */
/* kernel/trace/dump.c - prints the last events of some CPUs in order of time. For panic
 * (kernel/failure/report.c); newest.h reads them. */
#include <arch/trace.h>
#include <kernel/trace/control.h>
#include <kernel/trace/newest.h>
#include <trace/print/app_schema.h>
#include <trace/print/print.h>

#define PACKETS_BACK 3 /* per CPU: the open one and those before it */

static struct trace_newest newest; /* too large for a stack; trace_dump_newest admits one caller at a time */

static uint64_t count_events(uint64_t cpus)
{
    struct trace_moment moment;
    uint64_t total = 0;
    for (trace_newest_begin(&newest, cpus, PACKETS_BACK); trace_merge_next(&newest.merge, &moment);)
        total++;
    return total;
}

/* Of those counted: CPUs that go on log more meanwhile. */
static void print_last(uint64_t total, uint32_t count, trace_print_line *print)
{
    static char line[200];
    struct trace_moment moment;
    trace_newest_again(&newest);
    for (; total && trace_merge_next(&newest.merge, &moment); total--) {
        if (total > count)
            continue;
        trace_print_moment(line, sizeof(line), &moment, trace_info_page.clock_hz,
                           trace_find_event(trace_app_schemas(), moment.event->id));
        print("%s\n", line);
    }
}

static void dump(uint64_t cpus, uint32_t count, trace_print_line *print)
{
    const uint64_t total = count_events(cpus);
    const unsigned shown = (unsigned)(total < count ? total : count);
    if (cpus & (cpus - 1))
        print("trace: the last %u of %lu events in the newest packets\n", shown, total);
    else
        print("trace: the last %u of cpu %d's %lu events in the newest packets\n", shown,
              __builtin_ctzll(cpus), total);
    print_last(total, count, print);
}

static bool busy, has_stopped;

void trace_dump_newest(uint64_t cpus, uint32_t count, trace_print_line *print)
{
    if (__atomic_exchange_n(&busy, true, __ATOMIC_ACQUIRE) && !has_stopped) {
        print("trace: another CPU is printing events\n");
        return;
    }
    dump(cpus, count, print);
    __atomic_store_n(&busy, false, __ATOMIC_RELEASE); /* pairs with the exchange */
}

void trace_stop(void)
{
    has_stopped = true; /* the CPU that prints may have been stopped in the middle */
    __atomic_store_n(&trace_info_page.mask, 0, __ATOMIC_RELAXED);
    trace_silence();
}
