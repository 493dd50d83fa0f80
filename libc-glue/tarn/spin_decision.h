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

/* Whether a waiter should sleep at once: half of the holds last longer than twice the delay of a wake-up, so
 * that what is left of one when a thread comes is longer than the delay. Buckets are powers of two; two that
 * are side by side are not different enough. */
static inline bool decide_to_sleep(const uint64_t *hold_times, const uint64_t *wake_times)
{
    const int hold = find_median(hold_times), delay = find_median(wake_times);
    return hold >= 0 && delay >= 0 && hold > delay + 1;
}

#endif
