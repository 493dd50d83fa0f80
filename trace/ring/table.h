/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/ring/table.h - updates tables of counters (trace/format/table.h): in kernel, servers and programs.
 *
 *     struct trace_locks_row *row = trace_locks_row(arch_trace_ring(), lock, lock_class, pid);
 *     if (row) {
 *         trace_row_begin(&row->begun);
 *         trace_row_add(&row->sampled, 1);
 *         trace_row_end(&row->ended);
 *     }
 *
 * <trace/tables.h>, generated, has the rows and the functions that find them.
 *
 * No lock and no system call. Any CPU may update any row at any time, also an interrupt or an NMI in the
 * middle of an update: every word is changed by one atomic instruction, whichever discipline logs events. A
 * thread that migrates between arch_trace_ring() and the update counts in another CPU's table, which is
 * harmless: readers add all CPUs. One that is killed in an update leaves `begun` ahead of `ended`.
 *
 * Every program can write to the tables. So nothing that is read here leads anywhere: a row's place comes
 * from the declaration and the caller's keys, and each loop has a bound.
 *
 * Order: trace_row_begin() comes before the columns, trace_row_end() after them; both pair with
 * trace_table_read_row().
 */
#ifndef TRACE_RING_TABLE_H
#define TRACE_RING_TABLE_H

#include <arch/trace.h>
#include <stddef.h>
#include <trace/format/layout.h>
#include <trace/format/table.h>

#define TRACE_RAISE_TRIES 16 /* each that fails was overtaken by another update of the same word */

static inline void trace_row_add(uint64_t *word, uint64_t value)
{
    __atomic_fetch_add(word, value, __ATOMIC_RELAXED);
}

static inline void trace_row_begin(uint64_t *begun)
{
    trace_row_add(begun, 1);
    /* a reader that sees a change of a column sees that the update has begun; pairs with the acquire fence in
     * trace_table_read_row() */
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

static inline void trace_row_end(uint64_t *ended)
{
    /* a reader that sees the count sees the whole update; pairs with the acquire load there */
    __atomic_fetch_add(ended, 1, __ATOMIC_RELEASE);
}

/* The largest value: of column kind `max`. */
static inline void trace_row_raise(uint64_t *word, uint64_t value)
{
    uint64_t old = __atomic_load_n(word, __ATOMIC_RELAXED);
    for (int i = 0; i < TRACE_RAISE_TRIES && old < value; i++)
        if (__atomic_compare_exchange_n(word, &old, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return;
}

static inline void trace_row_bucket(uint64_t histogram[TRACE_TABLE_BUCKETS], uint64_t value)
{
    trace_row_add(&histogram[trace_table_bucket(value)], 1);
}

/* ---- for the generated functions: `offset`, `rows` and `row_words` are the declaration's -------------- */

/* A table's head; NULL: this system has no tables, or has not mapped them yet. */
static inline uint64_t *trace_table_head(char *ring, uint32_t offset, uint32_t rows, uint32_t row_words)
{
    const uint32_t end = offset + (TRACE_TABLE_HEAD_WORDS + rows * row_words) * 8;
    if (__atomic_load_n(&arch_trace_info()->table_bytes, __ATOMIC_RELAXED) < end)
        return NULL;
    return (uint64_t *)(uintptr_t)(ring + TRACE_TABLES_OFFSET + offset);
}

/* Whether the row belongs to the tag, now or already. The swap may fail spuriously. Then the keys get another
 * row, and readers add both. */
static inline bool trace_row_claim(uint64_t *head, uint64_t *row, uint64_t tag)
{
    uint64_t found = __atomic_load_n(&row[TRACE_ROW_TAG], __ATOMIC_RELAXED);
    if (found == 0 && __atomic_compare_exchange_n(&row[TRACE_ROW_TAG], &found, tag, true, __ATOMIC_RELAXED,
                                                  __ATOMIC_RELAXED)) {
        trace_row_add(&head[TRACE_TABLE_USED], 1);
        return true;
    }
    return found == tag;
}

/* All that update a row store its keys if they are not there: what claimed it may be interrupted before. */
static inline uint64_t *trace_row_set_keys(uint64_t *row, const uint64_t *keys, unsigned key_count)
{
#pragma GCC unroll 4
    for (unsigned i = 0; i < key_count; i++)
        if (__atomic_load_n(&row[TRACE_ROW_KEYS + i], __ATOMIC_RELAXED) != keys[i])
            __atomic_store_n(&row[TRACE_ROW_KEYS + i], keys[i], __ATOMIC_RELAXED);
    return row;
}

/* NULL: none of the probed rows is free or the keys', which is counted; or there are no tables. */
static inline uint64_t *trace_table_find(char *ring, uint32_t offset, uint32_t rows, uint32_t row_words,
                                         const uint64_t *keys, unsigned key_count)
{
    uint64_t *head = trace_table_head(ring, offset, rows, row_words);
    const uint64_t tag = trace_table_tag(keys, key_count);
    for (unsigned i = 0; head && i < TRACE_TABLE_PROBES; i++) {
        uint64_t *row = head + TRACE_TABLE_HEAD_WORDS + (tag + i) % rows * row_words;
        if (trace_row_claim(head, row, tag))
            return trace_row_set_keys(row, keys, key_count);
    }
    if (head)
        trace_row_add(&head[TRACE_TABLE_NO_SPACE], 1);
    return NULL;
}

/* NULL: there is no such row, which is counted; or there are no tables. */
static inline uint64_t *trace_table_index(char *ring, uint32_t offset, uint32_t rows, uint32_t row_words,
                                          uint64_t index)
{
    uint64_t *head = trace_table_head(ring, offset, rows, row_words);
    if (!head)
        return NULL;
    if (index >= rows) {
        trace_row_add(&head[TRACE_TABLE_NO_SPACE], 1);
        return NULL;
    }
    uint64_t *row = head + TRACE_TABLE_HEAD_WORDS + index * row_words;
    trace_row_claim(head, row, 1);
    return trace_row_set_keys(row, &index, 1);
}

#endif
