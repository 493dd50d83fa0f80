/*
 * trace/ring/table_read.h - reads tables of counters (trace/format/table.h) where they are mapped: kernel,
 * servers, programs.
 *
 *     struct trace_table_walk walk = {.table = table, .ring = ring};
 *     while (trace_table_next(&walk, row))
 *         ...                           a row of one CPU
 *
 * No locks; writers continue. A row is copied as of one moment, or, if updates come too fast, with the number
 * of updates under way. No memory but the caller's. Any contents are safe to read.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <trace/format/table.h>

/* Rows may be moved meanwhile (FORMAT.md, "Tables"). Each visited row is complete. The sum over all visited
 * rows may have a row twice, or not at all, if trace_table_moves() is not 0. */
enum trace_row_state {
    TRACE_ROW_FREE,     /* or claimed, and not yet updated */
    TRACE_ROW_WHOLE,    /* of one moment */
    TRACE_ROW_CHANGING, /* updates are under way, or their threads were killed */
    TRACE_ROW_DAMAGED,  /* impossible contents */
};

/* Copies a row, below table->rows, to `copy` of table->row_words words. */
enum trace_row_state trace_table_read_row(const struct trace_table_info *table, const char *ring,
                                          uint32_t row, uint64_t *copy);

/* Updates that a copied row, or a sum of rows, lacks in part or in full. */
static inline uint64_t trace_row_unfinished(const struct trace_table_info *table, const uint64_t *row)
{
    return row[TRACE_ROW_BEGUN] - row[table->row_words - 1];
}

/* Adds a row to another one of the same keys. */
void trace_table_add_row(const struct trace_table_info *table, uint64_t *sum, const uint64_t *row);

/* Visits the rows of one CPU, those of table->adds among them: several may have the same keys. Set the first
 * two, and all others to 0. */
struct trace_table_walk {
    const struct trace_table_info *table;
    const char *ring;
    uint32_t row;     /* the next one */
    uint64_t damaged; /* rows that were left out; complete when the walk has ended */
    uint64_t moves;   /* that had ended when the walk began */
};

/* Copies the next row to `row`, which has TRACE_TABLE_ROW_WORDS_MAX words. False: no more. */
bool trace_table_next(struct trace_table_walk *walk, uint64_t *row);

/* Moves of rows since the walk began, or one that has not ended. */
uint64_t trace_table_moves(const struct trace_table_walk *walk);

/* A word of the table's head: enum trace_table_head_word. */
uint64_t trace_table_head_word(const struct trace_table_info *table, const char *ring, unsigned word);
