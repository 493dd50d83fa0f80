/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/model/lock_names.h - what programs call their locks (lock_name).
 *
 * A hash table; what was said last of an address counts. Bounded: beyond that nothing is learned.
 */
#ifndef TARN_LOCK_NAMES_H
#define TARN_LOCK_NAMES_H

#include <tools/tarn/tarn.h>

#define LOCK_NAMES_MAX 65536u

struct lock_name {
    uint64_t lock; /* address */
    uint32_t pid;
    bool is_changed; /* since model_save_knowledge */
    char name[35];   /* empty: it has none any more */
};

struct lock_names {
    struct lock_name *table; /* open addressing; pid 0, which is the kernel: a free place */
    uint32_t room, count;
    bool has_changes; /* of one of them */
};

void lock_names_open(struct lock_names *names);
void lock_names_close(struct lock_names *names);
/* NAME ends with LENGTH or a NUL. */
void lock_names_set(struct lock_names *names, uint32_t pid, uint64_t lock, const char *name, size_t length);
/* NULL: it has none. */
const char *lock_names_find(const struct lock_names *names, uint32_t pid, uint64_t lock);

#endif
