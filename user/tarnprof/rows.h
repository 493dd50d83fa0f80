/*
 * rows.h - prints rows of tables of counters as lines of text, for programs of the guest.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <trace/format/table.h>

/* Rows that were added up by their keys; zero at first, but for the table. */
struct trace_rows {
    const struct trace_table_info *table;
    uint64_t *words; /* allocated: table->row_words of each row */
    uint32_t count, capacity;
    /* What trace_rows_read() did not find: damaged rows, perhaps those that were moved meanwhile, and updates
     * without a row. */
    uint64_t damaged, moves, no_row;
};

#define TRACE_TABLE_CELL_BYTES 136u

struct trace_rows_view {
    uint64_t clock_hz;
    uint64_t elapsed; /* ticks in which they were counted, of routines those on CPUs; 0: unknown */
    uint32_t top;     /* how many rows are printed: the largest */
    const char
        *by; /* the column to sort by, also a derived one; NULL: the first sum, or else the first count */
    /* a name to print in place of a key's value, perhaps in `text`; NULL: it has none. May be NULL itself. */
    const char *(*name_of)(const char *key, uint64_t value, char text[TRACE_TABLE_CELL_BYTES]);
};

/* The entry of trace_table_list with that name, or NULL. */
const struct trace_table_info *trace_table_named(const char *name);

/* Adds a row. False: no memory. */
bool trace_rows_add(struct trace_rows *rows, const uint64_t *row);
/* Adds the rows of all CPUs, whose rings stay where they are. False: no memory. */
bool trace_rows_read(struct trace_rows *rows, const char *(*ring_of)(uint32_t cpu), uint32_t cpu_count);
void trace_rows_free(struct trace_rows *rows);
/* Sorts the rows, the largest first, and prints them, and what is missing. Columns in which all are 0 or
 * unknown are left out. Of a histogram it prints the values that 50 % and 99 % do not exceed: upper bounds of
 * buckets. False: there is no column `by`. */
bool trace_rows_print(FILE *to, struct trace_rows *rows, const struct trace_rows_view *view);
