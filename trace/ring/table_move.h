/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/ring/table_move.h - gives rows of tables of counters back when what they are about has ended
 * (trace/format/table.h, "Moving"), and puts a copy of tables in the order of a later one.
 *
 * The kernel alone moves rows, each CPU those of its own tables, without interruption. Nothing updates a row
 * that is moved: its keys say that its threads have ended, or it is one that this CPU alone updates. Other
 * rows are updated, read and taken meanwhile. No lock, and no memory but the caller's. Any contents are safe.
 */
#ifndef TRACE_RING_TABLE_MOVE_H
#define TRACE_RING_TABLE_MOVE_H

#include <stdbool.h>
#include <stdint.h>
#include <trace/format/table.h>

/* Whether what a row is about has ended; `keys` has table->key_count words. */
typedef bool trace_row_has_ended(const struct trace_table_info *table, const uint64_t *keys, void *context);

struct trace_table_mover {
    char *ring;
    const struct trace_table_info *into; /* the table that adds the one whose rows are moved; NULL: none */
    trace_row_has_ended *has_ended;
    void *context;
    uint64_t moves; /* of this ring that have ended; what programs write there is not believed */
};

/* Moves all rows of a hashed table that have ended, as one move. Returns how many. Those that find no row to
 * be added to stay. */
uint32_t trace_table_move(struct trace_table_mover *mover, const struct trace_table_info *table);

/* For differences: `before` and `now` are copies of a CPU's tables, each as after a ring's start. Moves the
 * rows of `before` that were moved between both copies, to where `now` has their updates. `into` as above. */
void trace_table_follow(const struct trace_table_info *table, const struct trace_table_info *into,
                        char *before, const char *now);

#endif
