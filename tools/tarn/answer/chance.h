/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/answer/chance.h - how likely chance explains a difference between two groups of measurements. */
#ifndef TARN_CHANCE_H
#define TARN_CHANCE_H

struct sample {
    unsigned count;
    double mean, deviation; /* of one measurement, estimated from all (n - 1); 0 of a single one */
};
struct sample sample_of(const double *values, unsigned count);

/* The probability that two samples of one population differ by as much as these, or more: Student's t-test
 * with a common variance, on both sides. Both have at least 2 measurements. */
double chance_of(struct sample a, struct sample b);

#endif
