/*
 * map.h - containers for counting: a hash table from up to three numbers to a record, and a growing array.
 *
 * Records of a map are zero-initialized and stay at their address until map_remove or map_close. Their number
 * is limited: beyond `limit` (MAP_ENTRIES_MAX by default) all new keys share one more record, `others`, whose
 * key is all ones. A text is a key as its hashes: two of them, where a collision would matter.
 */
#pragma once

#include <stdlib.h>
#include <string.h>
#include <tools/tarn/tarn.h>

#define MAP_ENTRIES_MAX       (1u << 20)
#define MAP_DISTRIBUTIONS_MAX (1u << 17) /* for records with a histogram */

#define MAP_KEYS 3u
struct map_entry {
    uint64_t key[MAP_KEYS];
    size_t index; /* in map->entries */
    _Alignas(16) char value[];
};

struct map {
    size_t value_size;
    struct map_entry **entries; /* in order of creation, until one is removed; without `others` */
    size_t count, limit;
    struct map_entry *others;  /* NULL: the limit was not reached */
    struct map_entry *removed; /* to be used again; the next one is in key[0] */
    struct map_entry **places; /* hash table; never full */
    size_t place_count;
    struct arena arena; /* also for further memory of records */
    struct map *next;   /* of the same analysis (analysis_map) */
};

void map_open(struct map *map, size_t value_size);
void map_close(struct map *map);
/* Adds the key if needed. */
void *map_at(struct map *map, uint64_t a, uint64_t b, uint64_t c);
/* The same, but NULL for a new key if the map is full. */
void *map_add(struct map *map, uint64_t a, uint64_t b, uint64_t c, bool *is_new);
/* NULL: no such key. */
void *map_find(const struct map *map, uint64_t a, uint64_t b, uint64_t c);
/* The key must be there. The last of `entries` takes its place. */
void map_remove(struct map *map, uint64_t a, uint64_t b, uint64_t c);

static inline uint64_t hash_number(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

/* FNV-1a. */
#define HASH_SEED       0xcbf29ce484222325ull
#define HASH_OTHER_SEED 0x84222325cbf29ce4ull
static inline uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)bytes[i]) * 0x100000001b3ull;
    return hash;
}
static inline uint64_t hash_text(uint64_t hash, const char *text)
{
    return hash_bytes(hash, text, strlen(text));
}

/* All records: first `entries`, then `others` if it exists. */
static inline size_t map_total(const struct map *map)
{
    return map->count + (map->others != NULL);
}

static inline const struct map_entry *map_entry(const struct map *map, size_t index)
{
    return index < map->count ? map->entries[index] : map->others;
}

/* The number of a record, in order of creation if none was removed. */
static inline size_t map_index(const void *value)
{
    return ((const struct map_entry *)((const char *)value - offsetof(struct map_entry, value)))->index;
}

/* The record that was created as number INDEX < count. */
static inline void *map_value(const struct map *map, size_t index)
{
    return map->entries[index]->value;
}

/* A growing array of records, indexed by a small number such as a thread's in the model. Records are
 * zero-initialized, and may move when another one is accessed. */
struct slots {
    size_t value_size;
    char *values;
    uint32_t count;
    struct slots *next; /* of the same analysis (analysis_slots) */
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

/* NULL: beyond the end of the array. */
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
