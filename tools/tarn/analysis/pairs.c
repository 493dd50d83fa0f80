/* SPDX-License-Identifier: BSD-2-Clause */
/* pairs.c - intervals that have begun and not yet ended; see pairs.h. */
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/analysis/pairs.h>

#define FIRST_SIZE 256u

void pairs_open(struct pairs *pairs)
{
    memset(pairs, 0, sizeof(*pairs));
    pairs->size = FIRST_SIZE;
    pairs->table = alloc_zero(pairs->size, sizeof(pairs->table[0]));
}

void pairs_close(struct pairs *pairs)
{
    free(pairs->table);
    arena_free(&pairs->arena);
    memset(pairs, 0, sizeof(*pairs));
}

static size_t place_of(const struct pairs *pairs, const uint64_t key[PAIRS_KEYS])
{
    uint64_t hash = 0x2545f4914f6cdd1dull;

    for (unsigned i = 0; i < PAIRS_KEYS; i++) {
        hash = (hash ^ key[i]) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 29;
    }
    return hash & (pairs->size - 1);
}

struct pair *pairs_find(const struct pairs *pairs, const uint64_t key[PAIRS_KEYS])
{
    struct pair *pair = pairs->table != NULL ? pairs->table[place_of(pairs, key)] : NULL;

    while (pair != NULL && memcmp(pair->key, key, sizeof(pair->key)) != 0)
        pair = pair->next;
    return pair;
}

static void grow(struct pairs *pairs)
{
    struct pair **old = pairs->table;
    size_t size = pairs->size;

    pairs->size *= 2;
    pairs->table = alloc_zero(pairs->size, sizeof(pairs->table[0]));
    for (size_t i = 0; i < size; i++)
        while (old[i] != NULL) {
            struct pair *pair = old[i], **place = &pairs->table[place_of(pairs, pair->key)];

            old[i] = pair->next;
            pair->next = *place;
            *place = pair;
        }
    free(old);
}

struct pair *pairs_add(struct pairs *pairs, const uint64_t key[PAIRS_KEYS])
{
    struct pair *pair = pairs->free, **place;

    if (pairs->count == PAIRS_MAX)
        return NULL;
    if (pairs->count >= pairs->size)
        grow(pairs);
    if (pair != NULL)
        pairs->free = pair->next;
    else
        pair = arena_alloc(&pairs->arena, sizeof(*pair));
    memset(pair, 0, sizeof(*pair));
    memcpy(pair->key, key, sizeof(pair->key));
    place = &pairs->table[place_of(pairs, key)];
    pair->next = *place;
    *place = pair;
    pairs->count++;
    return pair;
}

void pairs_remove(struct pairs *pairs, struct pair *pair)
{
    struct pair **link = &pairs->table[place_of(pairs, pair->key)];

    while (*link != pair)
        link = &(*link)->next;
    *link = pair->next;
    pair->next = pairs->free;
    pairs->free = pair;
    pairs->count--;
}

struct pair *pairs_next(const struct pairs *pairs, const struct pair *pair)
{
    size_t at = pair != NULL ? place_of(pairs, pair->key) + 1 : 0;

    if (pair != NULL && pair->next != NULL)
        return pair->next;
    while (at < pairs->size && pairs->table[at] == NULL)
        at++;
    return at < pairs->size ? pairs->table[at] : NULL;
}
