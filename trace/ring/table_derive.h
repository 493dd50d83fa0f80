/*
 * trace/ring/table_derive.h - the values that readers print of a row of a table of counters: its columns,
 * percentiles of its histograms, and what is computed from several columns: means, ratios, errors of
 * estimates. For the guest's printer and for the host.
 *
 * A derived value belongs to each table that has its inputs, by their names. Integers only, no memory, no
 * locks; any row is safe.
 */
#pragma once

#include <trace/format/table.h>

#define TRACE_DERIVED_MAX 16u
#define TRACE_VALUES_MAX  (TRACE_TABLE_COLUMNS_MAX * 4 + TRACE_DERIVED_MAX)
#define TRACE_NO_VALUE    UINT64_MAX /* unknown */

enum trace_value_kind {
    TRACE_VALUE_COUNT, /* or a key */
    TRACE_VALUE_TICKS,
    TRACE_VALUE_PERCENT, /* in hundredths of a percent */
};

struct trace_derived;
struct trace_value {
    const char *name;
    enum trace_value_kind kind;
    const struct trace_column_info *column; /* NULL: derived */
    unsigned percent;                       /* 50, 90, 99 or 100 of a histogram; 0: it is none */
    const struct trace_derived *derived;
};

/* Stores the values of a table's rows in `list`, derived ones last; returns their number. */
unsigned trace_table_values(const struct trace_table_info *table, struct trace_value list[TRACE_VALUES_MAX]);
/* Of a histogram, the value that `percent` of its values do not exceed: the upper bound of its bucket.
 * TRACE_NO_VALUE: unknown, such as the mean of nothing, or a bound in the last bucket, which has none.
 * `elapsed`: ticks in which the row was counted, of routines those on CPUs; 0 unknown. */
uint64_t trace_value_of(const struct trace_value *value, const struct trace_table_info *table,
                        const uint64_t *row, uint64_t elapsed);
