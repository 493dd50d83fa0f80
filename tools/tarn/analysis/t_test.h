/* t_test.h - the probability that a difference between two groups of measurements is random. */
#pragma once

struct sample {
    unsigned count;
    double mean, deviation; /* standard deviation, estimated with n - 1; 0 for a single measurement */
};

/* Returns the probability that two samples of the same population differ at least as much as these:
 * Student's two-sided t-test with common variance. Both need at least 2 measurements. */
double chance_of(struct sample a, struct sample b);
