/*
 * trace/format/sum.h - the checksum of a packet in memory: detects changes by a reset and a reload.
 *
 * It must be cheap, and detect damage, not forgery: the sum of all words, and the sum of the intermediate
 * results after every eight words, which detects moved words; mixed into 32 bits.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define TRACE_SUM_STEP 8u /* words; counts passed to trace_sum_add() are multiples of it */

struct trace_sum {
    uint64_t words, steps;
};

/* The words may be overwritten meanwhile: the caller finds out, and drops the sum. */
static inline void trace_sum_add(struct trace_sum *sum, const uint64_t *from, uint64_t count)
{
    uint64_t words = sum->words, steps = sum->steps;
    for (const uint64_t *end = from + count; from < end; from += TRACE_SUM_STEP) {
        for (unsigned i = 0; i < TRACE_SUM_STEP; i++)
            words += __atomic_load_n(&from[i], __ATOMIC_RELAXED);
        steps += words;
    }
    sum->words = words;
    sum->steps = steps;
}

/* The entry of packet `number` in struct trace_control: half of it identifies the packet, half is the sum. */
static inline uint64_t trace_sum_entry(const struct trace_sum *sum, uint64_t number)
{
    /* an odd factor loses nothing, and carries every bit into the upper half */
    uint64_t mixed = (sum->words ^ (sum->steps << 32 | sum->steps >> 32)) * 0x9e3779b97f4a7c15ull;
    return (number + 1) << 32 | (uint32_t)(mixed >> 32);
}

static inline bool trace_sum_is_of(uint64_t entry, uint64_t number)
{
    return entry && entry >> 32 == (uint32_t)(number + 1);
}
