/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/print/tables.h - prints tables of counters, added over all CPUs, as lines of text: for the `trace`
 * command and the kernel's debugger.
 *
 * No memory but the caller's, and no lock.
 */
#ifndef TRACE_PRINT_TABLES_H
#define TRACE_PRINT_TABLES_H

#include <stdint.h>
#include <trace/ring/table_read.h>

#define TRACE_TABLE_CELLS_MAX (TRACE_TABLE_COLUMNS_MAX * 2) /* a histogram has two */

struct trace_table_print {
    /* the caller's */
    const char *(*ring_of)(uint32_t cpu);
    uint32_t cpu_count;
    uint64_t clock_hz;
    void (*put)(const char *text); /* parts of lines */
    uint64_t *rows;                /* capacity * TRACE_TABLE_ROW_WORDS_MAX words */
    uint16_t *order;               /* `capacity` of them */
    uint32_t capacity;             /* rows that are printed, at least 1: those with the most */
    /* its own */
    struct trace_table_walk walk;
    uint32_t count; /* rows kept */
    uint64_t keys;  /* all rows */
    uint64_t sum[TRACE_TABLE_ROW_WORDS_MAX];
    uint8_t widths[TRACE_TABLE_CELLS_MAX];
};

/* The entry of trace_table_list with that name, or NULL. */
const struct trace_table_info *trace_table_named(const char *name);

/* A line for each table. */
void trace_tables_list(struct trace_table_print *print);
/* The rows of a table, sorted by its first sum (if it has none, its first count), largest first. Of a
 * histogram it prints the values below which 50 % and 99 % lie, about. */
void trace_table_print(struct trace_table_print *print, const struct trace_table_info *table);

#endif
