/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/answer/map.h - what an analysis counts by: a hash table from up to three numbers to a record.
 *
 * Records are zero when they are new and stay where they are until map_close. Their number is bounded: once
 * there are MAP_ENTRIES_MAX, all keys that are new share one more, `others`.
 */
#ifndef TARN_MAP_H
#define TARN_MAP_H

#include <tools/tarn/tarn.h>

#define MAP_ENTRIES_MAX (1u << 20)

struct map_entry {
    uint64_t key[3];
    _Alignas(16) char value[];
};

struct map {
    size_t value_size;
    struct map_entry **entries; /* in the order in which they were made; without others */
    size_t count;
    struct map_entry *others;  /* NULL as long as there was room */
    struct map_entry **places; /* never full */
    size_t place_count;
    struct arena arena; /* for what records need besides, too */
};

void map_open(struct map *map, size_t value_size);
void map_close(struct map *map);
/* The record of a key, made if it is not there. */
void *map_at(struct map *map, uint64_t a, uint64_t b, uint64_t c);
/* ... or NULL. */
void *map_find(const struct map *map, uint64_t a, uint64_t b, uint64_t c);

#endif
