/* SPDX-License-Identifier: BSD-2-Clause */
/* spin_decision.h - whether to spin for a lock, by two histograms of a row of the table lock_spins; see
 * lock_spin.h. */
#ifndef LIBC_GLUE_SPIN_DECISION_H
#define LIBC_GLUE_SPIN_DECISION_H

#include <stdbool.h>
#include <stdint.h>
#include <trace/format/table.h>

/* The bucket in which the middle of all values is; -1: there are none. */
static inline int find_median(const uint64_t *histogram)
{
    uint64_t total = 0, sum = 0;
    for (unsigned i = 0; i < TRACE_TABLE_BUCKETS; i++)
        total += __atomic_load_n(&histogram[i], __ATOMIC_RELAXED);
    for (unsigned i = 0; i < TRACE_TABLE_BUCKETS; i++) {
        sum += __atomic_load_n(&histogram[i], __ATOMIC_RELAXED);
        if (total && sum >= total - total / 2)
            return (int)i;
    }
    return -1;
}

/* How far apart measurements are: about one of as many waits of a thread, or wake-ups. */
#define SPIN_EVERY_MIN 16u
#define SPIN_EVERY_MAX 256u

/* Whether a hold is long, by the buckets of its time and of the usual delay (-1: unknown): longer than twice
 * the delay, so that what is left of it when a thread comes is longer than the delay. Buckets are powers of
 * two; two that are side by side are not different enough. */
static inline bool is_long_hold(int hold, int delay)
{
    return hold >= 0 && delay >= 0 && hold > delay + 1;
}

/* Whether a waiter should sleep at once: half of the holds are long. */
static inline bool decide_to_sleep(const uint64_t *hold_times, const uint64_t *wake_times)
{
    return is_long_hold(find_median(hold_times), find_median(wake_times));
}

/* The next distance. A hold that is as the decision expects doubles it: what is known need not be measured
 * again. Another hold may be the first of many. */
static inline uint32_t choose_spin_distance(uint32_t every, bool is_expected)
{
    if (!is_expected || every < SPIN_EVERY_MIN)
        return SPIN_EVERY_MIN;
    return every < SPIN_EVERY_MAX ? 2 * every : SPIN_EVERY_MAX;
}

#endif
