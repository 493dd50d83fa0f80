/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/answer/map.h - what an analysis counts by: a hash table from up to three numbers to a record,
 * and an array that grows.
 *
 * Records of a map are zero when they are new and stay where they are until map_close. Their number is
 * bounded: once there are `limit`, MAP_ENTRIES_MAX unless it is set to less, all keys that are new share one
 * more, `others`, whose key is all ones.
 */
#ifndef TARN_MAP_H
#define TARN_MAP_H

#include <stdlib.h>
#include <tools/tarn/tarn.h>

#define MAP_ENTRIES_MAX       (1u << 20)
#define MAP_DISTRIBUTIONS_MAX (1u << 17) /* where each has a histogram of its own */

struct map_entry {
    uint64_t key[3];
    _Alignas(16) char value[];
};

struct map {
    size_t value_size;
    struct map_entry **entries; /* in the order in which they were made; without others */
    size_t count, limit;
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

/* All records: first entries, then others if it is there. */
static inline size_t map_total(const struct map *map)
{
    return map->count + (map->others != NULL);
}

static inline const struct map_entry *map_entry(const struct map *map, size_t index)
{
    return index < map->count ? map->entries[index] : map->others;
}

/* Records by a small number, such as a thread's in the model: an array that grows. Zero when they are new;
 * they may move when another is asked for. */
struct slots {
    size_t value_size;
    char *values;
    uint32_t count;
};

void slots_grow(struct slots *slots, uint32_t index);

static inline void slots_open(struct slots *slots, size_t value_size)
{
    *slots = (struct slots){.value_size = value_size};
}

static inline void *slots_at(struct slots *slots, uint32_t index)
{
    if (__builtin_expect(index >= slots->count, 0))
        slots_grow(slots, index);
    return slots->values + index * slots->value_size;
}

/* NULL: never asked for, nor one above it. */
static inline const void *slots_find(const struct slots *slots, uint32_t index)
{
    return index < slots->count ? slots->values + index * slots->value_size : NULL;
}

static inline void slots_close(struct slots *slots)
{
    free(slots->values);
    slots->values = NULL;
    slots->count = 0;
}

#endif
