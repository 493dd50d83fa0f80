/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pairs.h - intervals that have begun and not yet ended: a hash table with removal.
 *
 * Keys are a few numbers. At most PAIRS_MAX records are kept.
 */
#ifndef TARN_PAIRS_H
#define TARN_PAIRS_H

#include <tools/tarn/tarn.h>

#define PAIRS_MAX  (1u << 20)
#define PAIRS_KEYS 5u

struct pair {
    struct pair *next;
    uint64_t key[PAIRS_KEYS];
    uint64_t begin; /* ticks */
    uint64_t group; /* with which it is counted */
    const void *thread;
};

struct pairs {
    struct pair **table;
    size_t size, count;
    struct pair *free;
    struct arena arena;
};

void pairs_open(struct pairs *pairs);
void pairs_close(struct pairs *pairs);
/* NULL: none. Valid until pairs_remove. */
struct pair *pairs_find(const struct pairs *pairs, const uint64_t key[PAIRS_KEYS]);
/* Adds a record, zero but for its key; NULL: too many. */
struct pair *pairs_add(struct pairs *pairs, const uint64_t key[PAIRS_KEYS]);
void pairs_remove(struct pairs *pairs, struct pair *pair);
/* Iterates over all records in no particular order; start with NULL. */
struct pair *pairs_next(const struct pairs *pairs, const struct pair *pair);

#endif
