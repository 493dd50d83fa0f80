/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/answer/pairs.h - what has begun and not yet ended: a hash table from which records are taken
 * out.
 *
 * Keys are a few numbers. Records are bounded: beyond PAIRS_MAX nothing is added.
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
    uint64_t group; /* what it is counted with */
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
/* NULL: none. It stays until pairs_remove. */
struct pair *pairs_find(const struct pairs *pairs, const uint64_t key[PAIRS_KEYS]);
/* A new one, zero but for its key; NULL: there are too many. */
struct pair *pairs_add(struct pairs *pairs, const uint64_t key[PAIRS_KEYS]);
void pairs_remove(struct pairs *pairs, struct pair *pair);
/* All that are there, in no order: start with NULL. */
struct pair *pairs_next(const struct pairs *pairs, const struct pair *pair);

#endif
