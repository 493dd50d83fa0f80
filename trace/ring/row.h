/* trace/ring/row.h - updates the words of a row of counters; see table.h. */
#pragma once

#include <trace/format/table.h>

#define TRACE_RAISE_TRIES 16 /* each that fails was overtaken by another update of the same word */

/* Rows that one CPU alone updates, without interruption, need no atomic instructions: the kernel's rows,
 * whose keys no program uses. A store of 64 bits is atomic, so readers see no half. */
enum trace_row_writers { TRACE_ROW_OF_MANY, TRACE_ROW_OF_ONE };

static inline void trace_row_add(uint64_t *word, uint64_t value, enum trace_row_writers writers)
{
    if (writers == TRACE_ROW_OF_ONE)
        *word += value; /* one instruction where the machine has it, which an atomic load and store are not */
    else
        __atomic_fetch_add(word, value, __ATOMIC_RELAXED);
}

static inline void trace_row_begin(uint64_t *begun, enum trace_row_writers writers)
{
    trace_row_add(begun, 1, writers);
    /* a reader that sees a change of a column sees that the update has begun; pairs with the acquire fence in
     * trace_table_read_row() */
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

static inline void trace_row_end(uint64_t *ended, enum trace_row_writers writers)
{
    /* a reader that sees the count sees the whole update; pairs with the acquire load there */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    trace_row_add(ended, 1, writers);
}

/* The largest value: of column kind `max`. */
static inline void trace_row_raise(uint64_t *word, uint64_t value, enum trace_row_writers writers)
{
    uint64_t old = __atomic_load_n(word, __ATOMIC_RELAXED);
    if (writers == TRACE_ROW_OF_ONE && __builtin_expect(old < value, 0))
        *word = value;
    for (int i = 0; writers == TRACE_ROW_OF_MANY && i < TRACE_RAISE_TRIES && old < value; i++)
        if (__atomic_compare_exchange_n(word, &old, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return;
}

static inline void trace_row_bucket(uint64_t histogram[TRACE_TABLE_BUCKETS], uint64_t value,
                                    enum trace_row_writers writers)
{
    trace_row_add(&histogram[trace_table_bucket(value)], 1, writers);
}
