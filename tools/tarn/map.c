/* map.c - records by number; see map.h. */
#include <tools/tarn/map.h>

#define PLACES_FIRST 64u

void map_open(struct map *map, size_t value_size)
{
    memset(map, 0, sizeof(*map));
    map->value_size = value_size;
    map->limit = MAP_ENTRIES_MAX;
    map->place_count = PLACES_FIRST;
    map->places = alloc_zero(map->place_count, sizeof(map->places[0]));
    map->entries = alloc_zero(map->place_count / 2, sizeof(map->entries[0]));
}

void map_close(struct map *map)
{
    free(map->places);
    free(map->entries);
    arena_free(&map->arena);
    memset(map, 0, sizeof(*map));
}

static uint64_t hash_key(uint64_t a, uint64_t b, uint64_t c)
{
    return hash_number(hash_number(hash_number(0x2545f4914f6cdd1dull, a), b), c);
}

/* Returns the place of a key's entry, or the free place where it belongs. */
static struct map_entry **find_place(const struct map *map, uint64_t a, uint64_t b, uint64_t c)
{
    for (uint64_t at = hash_key(a, b, c);; at++) {
        struct map_entry **place = &map->places[at & (map->place_count - 1)], *entry = *place;
        if (entry == NULL || (entry->key[0] == a && entry->key[1] == b && entry->key[2] == c))
            return place;
    }
}

static void grow(struct map *map)
{
    map->place_count *= 2;
    free(map->places);
    map->places = alloc_zero(map->place_count, sizeof(map->places[0]));
    map->entries = alloc_more(map->entries, map->place_count / 2, sizeof(map->entries[0]));
    for (size_t i = 0; i < map->count; i++) {
        const uint64_t *key = map->entries[i]->key;
        *find_place(map, key[0], key[1], key[2]) = map->entries[i];
    }
}

static struct map_entry *new_entry(struct map *map, uint64_t a, uint64_t b, uint64_t c)
{
    struct map_entry *entry = map->removed;
    if (entry != NULL) {
        map->removed = (struct map_entry *)(uintptr_t)entry->key[0];
        memset(entry, 0, sizeof(*entry) + map->value_size);
    } else {
        entry = arena_alloc(&map->arena, sizeof(*entry) + map->value_size);
    }
    entry->key[0] = a;
    entry->key[1] = b;
    entry->key[2] = c;
    return entry;
}

void *map_at(struct map *map, uint64_t a, uint64_t b, uint64_t c)
{
    struct map_entry **place = find_place(map, a, b, c);
    if (*place != NULL)
        return (*place)->value;
    if (map->count >= map->limit) {
        if (map->others == NULL)
            map->others = new_entry(map, UINT64_MAX, UINT64_MAX, UINT64_MAX);
        return map->others->value;
    }
    if (2 * map->count + 2 > map->place_count) {
        grow(map);
        place = find_place(map, a, b, c);
    }
    *place = map->entries[map->count] = new_entry(map, a, b, c);
    (*place)->index = map->count++;
    return (*place)->value;
}

void *map_find(const struct map *map, uint64_t a, uint64_t b, uint64_t c)
{
    struct map_entry *entry = *find_place(map, a, b, c);
    return entry != NULL ? entry->value : NULL;
}

void *map_add(struct map *map, uint64_t a, uint64_t b, uint64_t c, bool *is_new)
{
    void *known = map_find(map, a, b, c);
    *is_new = known == NULL && map->count < map->limit;
    return *is_new ? map_at(map, a, b, c) : known;
}

void map_remove(struct map *map, uint64_t a, uint64_t b, uint64_t c)
{
    struct map_entry **hole = find_place(map, a, b, c), *entry = *hole, *last = map->entries[--map->count];
    size_t mask = map->place_count - 1, from = (size_t)(hole - map->places);
    map->entries[entry->index] = last;
    last->index = entry->index;
    /* Move entries behind the hole into it if they are there because the place was taken. */
    for (size_t at = (from + 1) & mask; map->places[at] != NULL; at = (at + 1) & mask) {
        const uint64_t *key = map->places[at]->key;
        if (((at - hash_key(key[0], key[1], key[2])) & mask) < ((at - from) & mask))
            continue;
        map->places[from] = map->places[at];
        from = at;
    }
    map->places[from] = NULL;
    entry->key[0] = (uintptr_t)map->removed;
    map->removed = entry;
}

void slots_grow(struct slots *slots, uint32_t index)
{
    uint32_t count = index < 32 ? 64 : 2 * index;
    slots->values = alloc_more(slots->values, count, slots->value_size);
    memset(slots->values + slots->count * slots->value_size, 0, (count - slots->count) * slots->value_size);
    slots->count = count;
}
