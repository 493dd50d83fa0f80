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
#include <trace/format/layout.h>
#include <trace/format/table.h>
#include <trace/ring/row.h>

static inline uint64_t *trace_table_head_of(const struct trace_table_info *table, const char *ring)
{
    return (uint64_t *)((uintptr_t)ring + TRACE_TABLES_OFFSET + table->offset);
}

static inline uint64_t *trace_table_row_at(const struct trace_table_info *table, const char *ring,
                                           uint32_t row)
{
    return trace_table_head_of(table, ring) + TRACE_TABLE_HEAD_WORDS + (uint64_t)row * table->row_words;
}

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

/* Adds a row to `sum`, a row of `into` with the same columns and perhaps fewer keys, as an update would: its
 * count of begun updates first, the count of ended ones last. Readers sum rows up with it, and the kernel
 * adds the rows of ended processes and locks to others (table_move.c). */
void trace_table_add_row(const struct trace_table_info *table, const uint64_t *row,
                         const struct trace_table_info *into, uint64_t *sum, enum trace_row_writers writers);

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

/* ---- moves (FORMAT.md, "Tables"): rows whose process or lock has ended are freed ----
 *
 * Only the kernel moves rows, each CPU in its own tables, without interruption. Nothing updates a row that is
 * moved: its threads have ended, or only this CPU updates it. Other rows are updated, read and taken
 * meanwhile. */

/* Whether a row's owner has ended; `keys` has table->key_count words. */
typedef bool trace_row_has_ended(const struct trace_table_info *table, const uint64_t *keys);

struct trace_table_mover {
    char *ring;
    const struct trace_table_info *into; /* the table that adds the one whose rows are moved; NULL: none */
    trace_row_has_ended *has_ended;
    uint64_t moves; /* of this ring that have ended; not read from memory, which programs can write */
};

/* Moves all rows of a hashed table whose owners have ended, as one move, and returns their number. Rows
 * without a row to be added to stay. */
uint32_t trace_table_move(struct trace_table_mover *mover, const struct trace_table_info *table);
