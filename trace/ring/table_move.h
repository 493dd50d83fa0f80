/*
 * trace/ring/table_move.h - frees rows of tables of counters whose process or lock has ended.
 * FORMAT.md, "Tables", explains moves.
 *
 * Only the kernel moves rows, each CPU in its own tables, without interruption. Nothing updates a row that is
 * moved: its threads have ended, or only this CPU updates it. Other rows are updated, read and taken
 * meanwhile. No lock, and no memory but the caller's. Any contents are safe.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <trace/format/table.h>

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
