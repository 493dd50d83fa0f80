/* SPDX-License-Identifier: BSD-2-Clause */
/* lock_names.c - the names of locks; see lock_names.h. */
#include <string.h>
#include <tools/tarn/model/lock_names.h>

void lock_names_open(struct lock_names *names)
{
    *names = (struct lock_names){0};
    map_open(&names->table, sizeof(struct lock_name));
    names->table.limit = LOCK_NAMES_MAX;
}

void lock_names_set(struct lock_names *names, uint32_t pid, uint64_t lock, const char *name, size_t length)
{
    bool is_new;

    if (pid == 0)
        return;
    struct lock_name *known = map_add(&names->table, pid, lock, 0, &is_new);
    if (known == NULL)
        return;
    length = strnlen(name, length);
    length = length < sizeof(known->name) ? length : sizeof(known->name) - 1;
    if (!is_new && strlen(known->name) == length && memcmp(known->name, name, length) == 0)
        return;
    *known = (struct lock_name){.lock = lock, .pid = pid, .is_changed = true};
    memcpy(known->name, name, length);
    names->has_changes = true;
}

const char *lock_names_find(const struct lock_names *names, uint32_t pid, uint64_t lock)
{
    const struct lock_name *known = map_find(&names->table, pid, lock, 0);

    return known != NULL && known->name[0] != '\0' ? known->name : NULL;
}
