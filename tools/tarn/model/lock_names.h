/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock_names.h - the names that programs give their locks (lock_name).
 *
 * A bounded hash table. The latest name of an address counts.
 */
#ifndef TARN_LOCK_NAMES_H
#define TARN_LOCK_NAMES_H

#include <tools/tarn/map.h>

#define LOCK_NAMES_MAX 65536u

struct lock_name {
    uint64_t lock; /* address */
    uint32_t pid;
    bool is_changed; /* since the last model_save_snapshot */
    char name[35];   /* empty: no name any more */
};

struct lock_names {
    struct map table; /* of struct lock_name, by pid and address; none of the kernel's, pid 0 */
    bool has_changes; /* a name is_changed */
};

void lock_names_open(struct lock_names *names);
/* NAME is LENGTH bytes, or ends earlier with a NUL. */
void lock_names_set(struct lock_names *names, uint32_t pid, uint64_t lock, const char *name, size_t length);
/* NULL: no name. */
const char *lock_names_find(const struct lock_names *names, uint32_t pid, uint64_t lock);

#endif
