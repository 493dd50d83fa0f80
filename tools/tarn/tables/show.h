/*
 * show.h - tables of counters as tables to print (table.h).
 *
 * Rows of routines are named by kind and argument, and by the program's routine that is their context. Ticks
 * become nanoseconds of the guest's clock. Of a histogram, the table has the 50th, 90th and 99th percentile
 * and the largest value: each the upper bound of its bucket, and unknown in the last bucket, which has none.
 * Derived columns (trace/ring/table_derive.h) follow.
 */
#pragma once

#include <tools/tarn/table.h>
#include <tools/tarn/tables/counted.h>
#include <tools/tarn/tables/key_names.h>
#include <trace/ring/table_derive.h>

struct shown {
    struct table table;
    const struct trace_table_info *counters;
    uint64_t clock_hz, elapsed;
    unsigned count;
    struct table_column columns[TABLE_COLUMNS_MAX];
    /* the contents of a printed column */
    struct shown_column {
        uint8_t what;
        struct trace_value value;
    } shows[TABLE_COLUMNS_MAX];
    bool has_histogram;
};

/* Begins a table of the rows of COUNTERS, with its columns. ELAPSED: ticks in which they were counted; 0: not
 * known. */
void shown_open(struct shown *shown, const struct trace_table_info *counters, uint64_t clock_hz,
                uint64_t elapsed, bool by_part);
void shown_fill(struct shown *shown, const struct counted *counted, struct key_names *names);
void shown_close(struct shown *shown);

/* Fills a table, to be freed by table_free, with a row for each table of counters. */
void shown_list(struct table *list, const struct moment *moment);
