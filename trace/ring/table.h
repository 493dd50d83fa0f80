/*
 * trace/ring/table.h - updates tables of counters (trace/format/table.h): in kernel, servers and programs.
 *
 *     struct trace_locks_row *row = trace_locks_row(arch_trace_ring(), lock, lock_class, pid);
 *     if (row) {
 *         trace_row_begin(&row->begun, TRACE_ROW_OF_MANY);
 *         trace_row_add(&row->sampled, 1, TRACE_ROW_OF_MANY);
 *         trace_row_end(&row->ended, TRACE_ROW_OF_MANY);
 *     }
 *
 * <trace/tables.h>, generated, has the rows and the functions that find them.
 *
 * No lock and no system call. Any CPU may update any row at any time, also an interrupt or an NMI in the
 * middle of an update: every word is changed by one atomic instruction (but see trace_row_writers). A thread
 * that migrates before the update counts in another CPU's table: readers add all CPUs. One that is killed in
 * an update leaves `begun` ahead of `ended`. Every program can write to the tables, so a row's place comes
 * from the declaration and the caller's keys, and each loop has a bound.
 *
 * The kernel moves a row only after its owner has ended (trace/ring/table_move.c), so during no update.
 *
 * Order: trace_row_begin() comes before the columns, trace_row_end() after them; both pair with
 * trace_table_read_row().
 */
#pragma once

#include <arch/trace.h>
#include <stddef.h>
#include <trace/format/layout.h>
#include <trace/format/table.h>
#include <trace/ring/row.h>

/* ---- for the generated functions: `offset`, `rows` and `row_words` are the declaration's -------------- */

/* A table's head; NULL: this system has no tables, or has not mapped them yet. */
static inline uint64_t *trace_table_head(char *ring, uint32_t offset, uint32_t rows, uint32_t row_words)
{
    const uint32_t end = offset + (TRACE_TABLE_HEAD_WORDS + rows * row_words) * 8;
    if (__atomic_load_n(&arch_trace_info()->table_bytes, __ATOMIC_RELAXED) < end)
        return NULL;
    return (uint64_t *)(uintptr_t)(ring + TRACE_TABLES_OFFSET + offset);
}

/* Whether no more rows may be taken. */
static inline bool trace_table_is_filled(const uint64_t *head, uint32_t rows)
{
    return __atomic_load_n(&head[TRACE_TABLE_USED], __ATOMIC_RELAXED) >= TRACE_TABLE_ROWS_USED(rows);
}

/* Whether the row belongs to the tag, now or already. The swap may fail spuriously. Then the keys get another
 * row, and readers add both. */
static inline bool trace_row_claim(uint64_t *head, uint64_t *row, uint64_t tag)
{
    uint64_t found = __atomic_load_n(&row[TRACE_ROW_TAG], __ATOMIC_RELAXED);
    /* acquire: the row is empty as the kernel left it; pairs with the release in free_row() */
    if (found == 0 && __atomic_compare_exchange_n(&row[TRACE_ROW_TAG], &found, tag, true, __ATOMIC_ACQUIRE,
                                                  __ATOMIC_RELAXED)) {
        trace_row_add(&head[TRACE_TABLE_USED], 1, TRACE_ROW_OF_MANY);
        return true;
    }
    return found == tag;
}

/* Each update stores missing keys: the thread that claimed the row may be interrupted before it does. */
static inline uint64_t *trace_row_set_keys(uint64_t *row, const uint64_t *keys, unsigned key_count)
{
#pragma GCC unroll 4
    for (unsigned i = 0; i < key_count; i++)
        /* cppcheck-suppress objectIndex ; a caller with one key passes its address */
        if (__atomic_load_n(&row[TRACE_ROW_KEYS + i], __ATOMIC_RELAXED) != keys[i])
            __atomic_store_n(&row[TRACE_ROW_KEYS + i], keys[i], __ATOMIC_RELAXED);
    return row;
}

static inline void trace_table_count_lost(uint64_t *head)
{
    if (head)
        trace_row_add(&head[TRACE_TABLE_NO_SPACE], 1, TRACE_ROW_OF_MANY);
}

#define TRACE_ROW_NONE 0xffffu /* the keys have no row, and none may be taken for them */

/* The keys have no row: the first one that is free. */
static inline uint32_t trace_table_take(uint64_t *head, uint32_t rows, uint32_t row_words, uint64_t tag)
{
    uint32_t place = (uint32_t)(tag % rows);
    if (trace_table_is_filled(head, rows))
        return TRACE_ROW_NONE;
    for (unsigned i = 0; i < TRACE_TABLE_PROBES; i++, place = (place + 1) % rows)
        if (trace_row_claim(head, head + TRACE_TABLE_HEAD_WORDS + place * row_words, tag))
            return place;
    return TRACE_ROW_NONE;
}

/* The place of the row, or TRACE_ROW_NONE. All places are searched before a row is taken: an earlier one may
 * have been freed since the keys got theirs. */
static inline uint32_t trace_table_search(uint64_t *head, uint32_t rows, uint32_t row_words, uint64_t tag,
                                          const uint64_t *keys, unsigned key_count)
{
    uint32_t place = (uint32_t)(tag % rows);
    for (unsigned i = 0; i < TRACE_TABLE_PROBES; i++, place = (place + 1) % rows) {
        uint64_t *row = head + TRACE_TABLE_HEAD_WORDS + place * row_words;
        if (__atomic_load_n(&row[TRACE_ROW_TAG], __ATOMIC_RELAXED) == tag) {
            trace_row_set_keys(row, keys, key_count);
            return place;
        }
    }
    place = trace_table_take(head, rows, row_words, tag);
    if (place != TRACE_ROW_NONE)
        trace_row_set_keys(head + TRACE_TABLE_HEAD_WORDS + place * row_words, keys, key_count);
    return place;
}

static inline uint64_t *trace_table_row(uint64_t *head, uint32_t row_words, uint32_t place)
{
    if (__builtin_expect(place == TRACE_ROW_NONE, 0)) {
        trace_table_count_lost(head);
        return NULL;
    }
    return head + TRACE_TABLE_HEAD_WORDS + place * row_words;
}

/* NULL: the keys have no row, and none may be taken for them, which is counted; or there are no tables. */
static inline uint64_t *trace_table_find(char *ring, uint32_t offset, uint32_t rows, uint32_t row_words,
                                         const uint64_t *keys, unsigned key_count)
{
    uint64_t *head = trace_table_head(ring, offset, rows, row_words);
    return head ? trace_table_row(head, row_words,
                                  trace_table_search(head, rows, row_words, trace_table_tag(keys, key_count),
                                                     keys, key_count))
                : NULL;
}

/* ---- rows that a program looks up again and again ---- */

/* A process's cache of places in a table, in its own memory, zero at first, shared by its threads. */
#define TRACE_PLACES_BITS 7u
#define TRACE_NONE_BITS   3u
struct trace_places {
    bool is_used; /* the process may have rows in some CPU's table */
    /* last place of a row, by a hash of its first key; the caller compares the keys there */
    uint16_t place[1u << TRACE_PLACES_BITS];
    /* keys without a row, until more rows are moved: a hash of keys, ring and moves, by a hash of the keys */
    uint64_t none[1u << TRACE_NONE_BITS];
};

static inline uint16_t *trace_table_place(struct trace_places *places, uint64_t key)
{
    return &places->place[(uint32_t)(key >> 2) * 0x9e3779b1u >> (32 - TRACE_PLACES_BITS)];
}

/* The row that was known; the caller compares its keys. NULL: none. */
static inline uint64_t *trace_table_known(char *ring, uint32_t offset, uint32_t rows, uint32_t row_words,
                                          struct trace_places *places, uint64_t key)
{
    uint64_t *head = (uint64_t *)(uintptr_t)(ring + TRACE_TABLES_OFFSET + offset);
    const uint32_t place = __atomic_load_n(trace_table_place(places, key), __ATOMIC_RELAXED);
    return __builtin_expect(__atomic_load_n(&places->is_used, __ATOMIC_RELAXED), 1)
               ? head + TRACE_TABLE_HEAD_WORDS + place % rows * row_words
               : NULL;
}

/* As trace_table_find(), and remembers the result. */
static __attribute__((noinline, unused)) uint64_t *trace_table_find_again(char *ring, uint32_t offset,
                                                                          uint32_t rows, uint32_t row_words,
                                                                          const uint64_t *keys,
                                                                          unsigned key_count,
                                                                          struct trace_places *places)
{
    uint64_t *head = trace_table_head(ring, offset, rows, row_words);
    if (!head)
        return NULL;
    /* A process without rows need not search a full table; most processes are short. */
    if (!__atomic_load_n(&places->is_used, __ATOMIC_RELAXED)) {
        if (trace_table_is_filled(head, rows))
            return trace_table_row(head, row_words, TRACE_ROW_NONE);
        __atomic_store_n(&places->is_used, true, __ATOMIC_RELAXED);
    }
    const uint64_t tag = trace_table_tag(keys, key_count);
    const uint64_t hash =
        tag ^ (uint64_t)(uintptr_t)ring ^ __atomic_load_n(&head[TRACE_TABLE_MOVED], __ATOMIC_RELAXED);
    uint64_t *none = &places->none[tag >> (64 - TRACE_NONE_BITS)];
    if (__atomic_load_n(none, __ATOMIC_RELAXED) == hash)
        return trace_table_row(head, row_words, TRACE_ROW_NONE);
    const uint32_t place = trace_table_search(head, rows, row_words, tag, keys, key_count);
    if (place == TRACE_ROW_NONE)
        __atomic_store_n(none, hash, __ATOMIC_RELAXED);
    else
        __atomic_store_n(trace_table_place(places, keys[0]), (uint16_t)place, __ATOMIC_RELAXED);
    return trace_table_row(head, row_words, place);
}

/* NULL: there is no such row, which is counted; or there are no tables. */
static inline uint64_t *trace_table_index(char *ring, uint32_t offset, uint32_t rows, uint32_t row_words,
                                          uint64_t index)
{
    uint64_t *head = trace_table_head(ring, offset, rows, row_words);
    if (!head)
        return NULL;
    if (index >= rows) {
        trace_table_count_lost(head);
        return NULL;
    }
    uint64_t *row = head + TRACE_TABLE_HEAD_WORDS + index * row_words;
    trace_row_claim(head, row, 1);
    return trace_row_set_keys(row, &index, 1);
}
