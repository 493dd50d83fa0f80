/* SPDX-License-Identifier: BSD-2-Clause */
/* lock_names.c - the names of locks; see lock_names.h. */
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/model/lock_names.h>

void lock_names_open(struct lock_names *names)
{
    *names = (struct lock_names){.room = 64};
    names->table = alloc_zero(names->room, sizeof(names->table[0]));
}

void lock_names_close(struct lock_names *names)
{
    free(names->table);
    *names = (struct lock_names){0};
}

/* Returns the place of a lock, or a free one. */
static struct lock_name *find_place(const struct lock_names *names, uint32_t pid, uint64_t lock)
{
    uint64_t hash = (lock ^ (uint64_t)pid << 40) * 0x9e3779b97f4a7c15ull;

    for (uint64_t at = hash >> 32;; at++) {
        struct lock_name *place = &names->table[at & (names->room - 1)];

        if (place->pid == 0 || (place->pid == pid && place->lock == lock))
            return place;
    }
}

static void grow(struct lock_names *names)
{
    struct lock_name *old = names->table;
    uint32_t old_room = names->room;

    names->room *= 2;
    names->table = alloc_zero(names->room, sizeof(names->table[0]));
    for (uint32_t i = 0; i < old_room; i++)
        if (old[i].pid != 0)
            *find_place(names, old[i].pid, old[i].lock) = old[i];
    free(old);
}

void lock_names_set(struct lock_names *names, uint32_t pid, uint64_t lock, const char *name, size_t length)
{
    struct lock_name *place = find_place(names, pid, lock);

    if (pid == 0 || (place->pid == 0 && names->count == LOCK_NAMES_MAX))
        return;
    if (place->pid == 0 && ++names->count * 2 > names->room) {
        grow(names);
        place = find_place(names, pid, lock);
    }
    length = strnlen(name, length);
    length = length < sizeof(place->name) ? length : sizeof(place->name) - 1;
    if (place->pid != 0 && strlen(place->name) == length && memcmp(place->name, name, length) == 0)
        return;
    *place = (struct lock_name){.lock = lock, .pid = pid, .is_changed = true};
    memcpy(place->name, name, length);
    names->has_changes = true;
}

const char *lock_names_find(const struct lock_names *names, uint32_t pid, uint64_t lock)
{
    const struct lock_name *place = pid != 0 ? find_place(names, pid, lock) : NULL;

    return place != NULL && place->name[0] != '\0' ? place->name : NULL;
}
