/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/control/dump.c - the last events of processors on the raw console, in order of time.
 *
 * For panic, and for a kernel that can do nothing else yet: newest.h says how they are read.
 */
#include <arch/trace.h>
#include <kernel/kernel.h>
#include <trace/control/control.h>
#include <trace/control/newest.h>
#include <trace/event/app_schema.h>
#include <trace/event/print.h>

#define PACKETS_BACK 3 /* per processor: the open one and those before it */

static struct trace_newest newest; /* too large for a stack; trace_dump_tail lets one in at a time */

void trace_dump_tail(uint64_t cpus, uint32_t count)
{
    static bool busy; /* an NMI reaches all processors at once: one prints for all */
    if (__atomic_exchange_n(&busy, true, __ATOMIC_ACQUIRE))
        return;
    const uint64_t mask = trace_info_page.mask;
    if (cpus == TRACE_ALL_CPUS)
        __atomic_store_n(&trace_info_page.mask, 0, __ATOMIC_RELAXED); /* hold still */
    struct trace_moment moment;
    char line[200];
    uint64_t total = 0;
    for (trace_newest_begin(&newest, cpus, PACKETS_BACK); trace_merge_next(&newest.merge, &moment);)
        total++;
    log_line("trace: the last %u of %u events in the newest packets",
             (unsigned)(total < count ? total : count), (unsigned)total);
    for (trace_newest_begin(&newest, cpus, PACKETS_BACK); trace_merge_next(&newest.merge, &moment);) {
        if (total-- <= count) {
            trace_print_moment(line, sizeof(line), &moment, trace_info_page.clock_hz,
                               trace_find_event(trace_app_schemas(), moment.event->id));
            log_line("%s", line);
        }
    }
    if (cpus == TRACE_ALL_CPUS)
        __atomic_store_n(&trace_info_page.mask, mask, __ATOMIC_RELAXED);
    __atomic_store_n(&busy, false, __ATOMIC_RELEASE); /* pairs with the exchange */
}
