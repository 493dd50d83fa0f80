/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * estimate.h - totals of what was sampled, with error bounds.
 *
 * Each of N events was logged with probability 1/N, independent of what is asked for. Then k logged ones
 * stand for N * k, with variance N * (N - 1) * k. Each CPU counts to N, so a total of all events of a type is
 * more exact than this bound, which also holds for a part of them.
 */
#ifndef TARN_ESTIMATE_H
#define TARN_ESTIMATE_H

#include <math.h>
#include <stdint.h>

struct estimate {
    uint64_t total;
    double variance;
};

/* Adds a logged event that stands for `every`; 1 adds no error. */
static inline void estimate_add(struct estimate *estimate, uint64_t every)
{
    estimate->total += every;
    estimate->variance += (double)every * ((double)every - 1);
}

static inline void estimate_merge(struct estimate *into, const struct estimate *from)
{
    into->total += from->total;
    into->variance += from->variance;
}

/* The true total is within this many of the estimate in 95 of 100 cases. */
static inline uint64_t estimate_error(const struct estimate *estimate)
{
    const double deviations = 1.96; /* of a normal distribution */

    return (uint64_t)ceil(deviations * sqrt(estimate->variance));
}

#endif
