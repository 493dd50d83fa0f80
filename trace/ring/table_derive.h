/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/ring/table_derive.h - values that readers compute from a row of a table of counters: means, ratios,
 * errors of estimates. For the guest's printer and for the host.
 *
 * A derived column belongs to each table that has its inputs, by their names. Integers only, no memory, no
 * locks; any row is safe.
 */
#pragma once

#include <trace/format/table.h>

#define TRACE_DERIVED_MAX    16u
#define TRACE_DERIVED_INPUTS 4u
#define TRACE_NO_VALUE       UINT64_MAX /* unknown */

enum trace_derived_kind {
    TRACE_DERIVED_COUNT,
    TRACE_DERIVED_TICKS,
    TRACE_DERIVED_PERCENT, /* in hundredths of a percent */
};

struct trace_derived {
    const char *name;
    enum trace_derived_kind kind;
    const char *inputs[TRACE_DERIVED_INPUTS]; /* names of columns, `ended` or `elapsed`; NULL: no more */
    uint64_t (*compute)(
        const uint64_t *const in[TRACE_DERIVED_INPUTS]); /* `in` points to the inputs' words */
};

/* Stores the derived columns of a table in `list`; returns their number. */
unsigned trace_table_derived(const struct trace_table_info *table,
                             const struct trace_derived *list[TRACE_DERIVED_MAX]);
/* TRACE_NO_VALUE: unknown, such as the mean of nothing. `elapsed`: ticks in which the row was counted, of
 * routines those on CPUs; 0 unknown. */
uint64_t trace_derive(const struct trace_derived *derived, const struct trace_table_info *table,
                      const uint64_t *row, uint64_t elapsed);

/* The value that `percent` of a histogram's values do not exceed: the upper bound of its bucket.
 * TRACE_NO_VALUE: it has none, or that is in the last bucket, which has no bound. */
uint64_t trace_histogram_bound(const uint64_t histogram[TRACE_TABLE_BUCKETS], unsigned percent);
