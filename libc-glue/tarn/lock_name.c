/*
 * lock_name.c - names that programs give to their locks.
 *
 * The kernel does not know these names, so statedumps do not contain them.
 * Instead, the process logs lock_name again after a statedump, before the
 * lock's next event. A trace that begins there has all names it needs.
 *
 * This code takes no locks, because code that has just taken a lock calls it. Entries are added to lists,
 * reused, and never removed.
 */
#include "internal.h"
#include "lock_trace.h"

#include <stdlib.h>
#include <string.h>
#include <trace/lock.h>

struct lock_name {
    struct lock_name *next; /* constant once listed */
    const void *lock;       /* constant once listed */
    uint32_t logged;        /* atomic: number of statedumps when it was last logged */
    const char *name;       /* atomic; NULL: no name any more */
    /* the most recent name; reused and never freed, because another thread may be logging it */
    const char *last;
};

#define BUCKETS 64u
static struct lock_name *buckets[BUCKETS]; /* atomic */

static struct lock_name **bucket_of(const void *lock)
{
    return &buckets[((uint64_t)lock >> 4 ^ (uint64_t)lock >> 10) % BUCKETS];
}

/* Acquire pairs with the release in add_entry. */
static struct lock_name *find_entry(const void *lock)
{
    struct lock_name *entry = __atomic_load_n(bucket_of(lock), __ATOMIC_ACQUIRE);
    while (entry && entry->lock != lock)
        entry = entry->next;
    return entry;
}

static uint32_t count_statedumps(void)
{
    return __atomic_load_n(&arch_trace_info()->statedumps, __ATOMIC_RELAXED);
}

static void log_name(struct lock_name *entry, const char *name)
{
    __atomic_store_n(&entry->logged, count_statedumps(), __ATOMIC_RELAXED);
    trace_lock_name((uint64_t)entry->lock, process_id(), name);
}

void log_lock_name(const void *lock)
{
    struct lock_name *entry = find_entry(lock);
    if (!entry || __atomic_load_n(&entry->logged, __ATOMIC_RELAXED) == count_statedumps())
        return;
    const char *name = __atomic_load_n(&entry->name, __ATOMIC_ACQUIRE);
    if (name)
        log_name(entry, name);
}

static struct lock_name *add_entry(const void *lock)
{
    struct lock_name *entry = calloc(1, sizeof(*entry)), **bucket = bucket_of(lock);
    if (!entry)
        return NULL;
    entry->lock = lock;
    entry->next = __atomic_load_n(bucket, __ATOMIC_RELAXED);
    while (
        !__atomic_compare_exchange_n(bucket, &entry->next, entry, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    return entry;
}

/* Two threads must not name the same lock at the same time. */
static bool keep_name(struct lock_name *entry, const char *name)
{
    if (!name || (entry->last && !strcmp(entry->last, name)))
        return true;
    const char *copy = strdup(name);
    if (copy)
        entry->last = copy;
    return copy;
}

int lock_set_name(const void *lock, const char *name)
{
    struct lock_name *entry = find_entry(lock);
    if (!entry && !name)
        return 0;
    if (!entry)
        entry = add_entry(lock);
    if (!entry || !keep_name(entry, name))
        return -E_NO_MEMORY;
    __atomic_store_n(&entry->name, name ? entry->last : NULL, __ATOMIC_RELEASE);
    /* logged again before the next event */
    __atomic_store_n(&entry->logged, count_statedumps() - 1, __ATOMIC_RELAXED);
    if (TRACE_ON_LOCK())
        log_name(entry, name ? name : "");
    return 0;
}
