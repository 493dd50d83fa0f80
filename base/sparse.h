/*
 * sparse.h - finds the entries of a table of words that is mostly zero: tables of pages and of page frames.
 *
 * Most tables of a process have one to ten entries of 512. Eight zeros are skipped at once, so that an empty
 * table costs a few hundred instructions instead of thousands. The caller holds the table's lock.
 */
#pragma once

#include <stdint.h>

#define SPARSE_STEP 8u

static inline uint64_t sparse_any(const uint64_t *table)
{
    return table[0] | table[1] | table[2] | table[3] | table[4] | table[5] | table[6] | table[7];
}

/* The index of the first word in [at, end) that is not zero; `end`: there is none. at <= end. */
static inline uint64_t sparse_next(const uint64_t *table, uint64_t at, uint64_t end)
{
    if (at < end && table[at]) /* a full table costs no more than a search word by word */
        return at;
    while (end - at >= SPARSE_STEP && !sparse_any(&table[at]))
        at += SPARSE_STEP;
    while (at < end && !table[at])
        at++;
    return at;
}
