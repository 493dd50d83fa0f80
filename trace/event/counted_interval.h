/*
 * trace/event/counted_interval.h - a stopwatch of hardware counters, for programs of Tarn.
 *
 *     struct counted_interval interval;
 *     counted_interval_begin(&interval, 7);
 *     ...
 *     counted_interval_end(&interval);
 *
 * logs counter_interval 7: the counts of this thread in between, without other threads that ran
 * meanwhile, but with interrupts. Each end reads the counters by a system call, so an empty interval counts
 * the return from one and the entry of the next. Nothing is logged while no counter is bound, or if class
 * counter was switched off at begin or end.
 */
#pragma once

#include <arch/runtime.h>
#include <stdbool.h>
#include <tarn/abi.h>
#include <tarn/syscall.h>
#include <trace/counter.h>

struct counted_interval {
    uint64_t id, begin[COUNTER_SLOTS];
    bool has_begun;
};

static inline bool counted_interval_read(uint64_t counts[COUNTER_SLOTS])
{
    return sys_system_read(SYSTEM_OWN_COUNTERS, 0, counts, COUNTER_SLOTS * sizeof *counts) > 0;
}

static inline void counted_interval_begin(struct counted_interval *interval, uint64_t id)
{
    interval->id = id;
    interval->has_begun = TRACE_ON_COUNTER_INTERVAL() && counted_interval_read(interval->begin);
}

static inline void counted_interval_end(const struct counted_interval *interval)
{
    const uint64_t *begin = interval->begin;
    uint64_t end[COUNTER_SLOTS];
    if (interval->has_begun && counted_interval_read(end))
        trace_counter_interval(interval->id, arch_thread_block()->tid, end[0] - begin[0], end[1] - begin[1],
                               end[2] - begin[2], end[3] - begin[3]);
}
