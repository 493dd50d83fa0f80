/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/answer/distribution.h - how a duration is distributed: a histogram with log-linear buckets.
 *
 * Each power of two is cut into DISTRIBUTION_PARTS equal buckets, so any value that is read back is wrong by
 * at most 1/64 of itself; smallest, largest, count and sum are exact. Memory grows with the powers of two
 * that occur, not with the values. Values are ticks; the functions that fill tables give nanoseconds.
 */
#ifndef TARN_DISTRIBUTION_H
#define TARN_DISTRIBUTION_H

#include <tools/tarn/read/schema.h>
#include <tools/tarn/table.h>

#define DISTRIBUTION_SHIFT 5u
#define DISTRIBUTION_PARTS (1u << DISTRIBUTION_SHIFT)

/* All zero: empty. */
struct distribution {
    uint64_t count, total, min, max;
    uint64_t *buckets;     /* DISTRIBUTION_PARTS for each power from first on */
    uint8_t first, powers; /* powers: how many there is room for */
};

/* Memory is ARENA's, and goes with it. */
/* TIMES times. */
void distribution_add_many(struct distribution *distribution, struct arena *arena, uint64_t value,
                           uint64_t times);
static inline void distribution_add(struct distribution *distribution, struct arena *arena, uint64_t value)
{
    distribution_add_many(distribution, arena, value, 1);
}
void distribution_merge(struct distribution *into, struct arena *arena, const struct distribution *from);
/* The value that PART (0 to 1) of all are not above. 0 of an empty one. */
uint64_t distribution_percentile(const struct distribution *distribution, double part);

/* Columns of a table, filled by distribution_fill. */
/* clang-format off */
#define DISTRIBUTION_COLUMNS(count_key)                                                           \
    COUNT_COLUMN(count_key), TIME_COLUMN("total_ns"), TIME_SMALLEST("min_ns"),                    \
    TIME_OF_ONE("mean_ns"), TIME_OF_ONE("p50_ns"), TIME_OF_ONE("p90_ns"), TIME_OF_ONE("p99_ns"), \
    TIME_LARGEST("max_ns")
/* clang-format on */
#define DISTRIBUTION_COLUMN_COUNT 8u
/* Fills as many CELLS. */
void distribution_fill(const struct distribution *distribution, const struct schema *schema,
                       union table_cell *cells);

/* Rows of a histogram, as fine as fits a screen, with these columns. */
extern const struct table_column histogram_columns[6];
#define HISTOGRAM_TABLE(key, heading) \
    TABLE_AS(key, heading, "ranges", histogram_columns, TABLE_AS_FILLED, false, true)
#define HISTOGRAM_TABLE_EXTRA(key, heading) \
    TABLE_AS(key, heading, "ranges", histogram_columns, TABLE_AS_FILLED, true, true)
void distribution_histogram(const struct distribution *distribution, const struct schema *schema,
                            struct table *table);

/* A duration in nanoseconds. */
static inline uint64_t ticks_to_ns(const struct schema *schema, uint64_t ticks)
{
    unsigned __int128 ns;

    if (schema->clock_freq == 1000000000)
        return ticks;
    ns = (unsigned __int128)ticks * 1000000000 / (schema->clock_freq ? schema->clock_freq : 1);
    return ns > INT64_MAX ? INT64_MAX - 1 : (uint64_t)ns;
}

#endif
