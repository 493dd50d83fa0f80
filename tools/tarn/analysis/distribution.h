/*
 * distribution.h - the distribution of a duration: a histogram with log-linear buckets; and the probability
 * that a difference between two groups of measurements is random.
 *
 * Each power of two has DISTRIBUTION_PARTS equal buckets, so a value read back is wrong by at most 1/64;
 * minimum, maximum, count and sum are exact. Memory grows with the range of powers of two that occur, not
 * with the number of values. Values are ticks; the functions that fill tables convert to nanoseconds.
 */
#pragma once

#include <tools/tarn/read/schema.h>
#include <tools/tarn/table.h>

#define DISTRIBUTION_SHIFT 5u
#define DISTRIBUTION_PARTS (1u << DISTRIBUTION_SHIFT)

/* All zero: empty. */
struct distribution {
    uint64_t count, total, min, max;
    uint64_t *buckets;     /* DISTRIBUTION_PARTS for each power from `first` on */
    uint8_t first, powers; /* powers: how many are allocated */
};

/* Adds VALUE, TIMES times. Memory comes from ARENA. */
void distribution_add_many(struct distribution *distribution, struct arena *arena, uint64_t value,
                           uint64_t times);
void distribution_merge(struct distribution *into, struct arena *arena, const struct distribution *from);
/* Returns the value that a share of PART (0 to 1) of all values do not exceed; 0 if empty. */
uint64_t distribution_percentile(const struct distribution *distribution, double part);

/* The columns of histograms, and a row of one, with a resolution that fits a screen. */
extern const struct table_column histogram_columns[6];
struct histogram_row {
    char name[80];
    uint64_t from, to;     /* ns */
    uint64_t count, up_to; /* up_to: with the rows before */
};
/* Fills row number NUMBER, from the one before; false: there are no more. */
bool histogram_row(const struct distribution *distribution, const struct schema *schema, unsigned number,
                   struct histogram_row *row);

static inline uint64_t ticks_to_ns(const struct schema *schema, uint64_t ticks)
{
    unsigned __int128 ns;
    if (schema->clock_freq == 1000000000)
        return ticks;
    ns = (unsigned __int128)ticks * 1000000000 / (schema->clock_freq ? schema->clock_freq : 1);
    return ns > INT64_MAX ? INT64_MAX - 1 : (uint64_t)ns;
}

struct sample {
    unsigned count;
    double mean, deviation; /* standard deviation, estimated with n - 1; 0 for a single measurement */
};

/* Returns the probability that two samples of the same population differ at least as much as these:
 * Student's two-sided t-test with common variance. Both need at least 2 measurements. */
double chance_of(struct sample a, struct sample b);
