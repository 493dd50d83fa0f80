/*
 * futex.h - waiting for a word of user memory to change. futex.c has the system calls.
 *
 * Each space has its own buckets: programs never share one, and a bucket has no more waiters than the space
 * has threads, whatever addresses it uses.
 */
#pragma once

#include <kernel/cpu/lock.h>
#include <kernel/lib/list.h>

#define FUTEX_BUCKET_BITS 4u

struct futex_bucket {
    struct spinlock lock;
    struct list waiters; /* under lock: thread.link */
};
struct futex_table {
    struct futex_bucket buckets[1u << FUTEX_BUCKET_BITS];
};

void futex_construct(struct futex_table *table); /* once per memory */
