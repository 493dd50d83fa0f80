/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/futex.h - waiting for a word of user memory to change. The rest is system calls: futex.c.
 *
 * Each space has buckets of its own. So programs never meet in one, and whatever addresses a program chooses,
 * a bucket holds no more waiters than the space has threads.
 */
#ifndef KERNEL_FUTEX_H
#define KERNEL_FUTEX_H

#include <kernel/list.h>
#include <kernel/lock.h>

#define FUTEX_BUCKET_BITS 4u

struct futex_bucket {
    struct spinlock lock;
    struct list waiters; /* under lock: thread.link */
};
struct futex_table {
    struct futex_bucket buckets[1u << FUTEX_BUCKET_BITS];
};

void futex_construct(struct futex_table *table); /* once per memory */

#endif
