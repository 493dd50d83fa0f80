/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/print/tables.h - prints tables of counters, added over all CPUs, as lines of text: for the `trace`
 * command and the kernel's debugger.
 *
 * No memory but the caller's, and no lock.
 */
#ifndef TRACE_PRINT_TABLES_H
#define TRACE_PRINT_TABLES_H

#include <stdbool.h>
#include <stdint.h>
#include <trace/ring/table_derive.h>
#include <trace/ring/table_read.h>

#define TRACE_TABLE_CELLS_MAX (TRACE_TABLE_COLUMNS_MAX * 2 + TRACE_DERIVED_MAX) /* a histogram has two */

struct trace_table_print {
    /* the caller's */
    const char *(*ring_of)(uint32_t cpu);
    uint32_t cpu_count;
    uint64_t clock_hz;
    void (*put)(const char *text); /* parts of lines */
    const char *by;                /* the column to sort by, also a derived one; NULL: see below */
    /* a name to print in place of a key's value, or NULL; may be NULL itself */
    const char *(*name_of)(const char *key, uint64_t value);
    uint64_t *rows;    /* capacity * TRACE_TABLE_ROW_WORDS_MAX words */
    uint16_t *order;   /* `capacity` of them */
    uint32_t capacity; /* rows to print, at least 1: the largest */
    /* its own */
    struct trace_table_walk walk;
    const struct trace_derived *derived[TRACE_DERIVED_MAX];
    unsigned derived_count;
    uint32_t count; /* rows kept */
    uint64_t keys;  /* all rows */
    uint64_t sum[TRACE_TABLE_ROW_WORDS_MAX];
    uint8_t widths[TRACE_TABLE_CELLS_MAX];
};

/* The entry of trace_table_list with that name, or NULL. */
const struct trace_table_info *trace_table_named(const char *name);

/* A line for each table. */
void trace_tables_list(struct trace_table_print *print);
/* The rows of a table, sorted by a column (default: its first sum, or else its first count), largest first.
 * Columns in which all are 0 or unknown are left out. Of a histogram it prints the values that 50 % and 99 %
 * do not exceed: upper bounds of buckets. False: it has no column `by`. */
bool trace_table_print(struct trace_table_print *print, const struct trace_table_info *table);

#endif
