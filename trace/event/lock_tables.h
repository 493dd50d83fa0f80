/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/event/lock_tables.h - updates the tables lock_classes, locks and lock_sites (trace/schema/lock.ev),
 * for kernel and programs.
 *
 * An acquisition that is sampled is counted once, with its hold time if it has one: at its release. A wait is
 * counted where it ends. `lock`: address; `pid`: 0 kernel; `site`: return address into the function that took
 * the lock; times are in ticks. No lock; trace/ring/table.h says what happens meanwhile.
 */
#ifndef TRACE_EVENT_LOCK_TABLES_H
#define TRACE_EVENT_LOCK_TABLES_H

#include <trace/tables.h>

struct lock_key {
    uint64_t lock;
    uint32_t lock_class, pid;
};

enum lock_site_kind { LOCK_SITE_WAITED = 0, LOCK_SITE_HELD = 1 }; /* column `what` of lock_sites */

/* The columns that lock_classes and locks have in common. */
struct lock_columns {
    uint64_t sampled, acquisitions, contended, blocked, spins, wait, wait_longest;
    uint64_t wait_times[TRACE_TABLE_BUCKETS];
    uint64_t holds, held, held_longest;
    uint64_t hold_times[TRACE_TABLE_BUCKETS];
    uint64_t ended;
};
#define LOCK_COLUMNS_FIT(row)                                                              \
    _Static_assert(offsetof(struct row, ended) - offsetof(struct row, sampled) ==          \
                           offsetof(struct lock_columns, ended) &&                         \
                       offsetof(struct row, contended) - offsetof(struct row, sampled) ==  \
                           offsetof(struct lock_columns, contended) &&                     \
                       offsetof(struct row, hold_times) - offsetof(struct row, sampled) == \
                           offsetof(struct lock_columns, hold_times),                      \
                   "as trace/schema/lock.ev declares them")
LOCK_COLUMNS_FIT(trace_lock_classes_row);
LOCK_COLUMNS_FIT(trace_locks_row);
#undef LOCK_COLUMNS_FIT

static inline void lock_row_add_sample(uint64_t *begun, struct lock_columns *columns, uint64_t acquisitions)
{
    trace_row_begin(begun);
    trace_row_add(&columns->sampled, 1);
    trace_row_add(&columns->acquisitions, acquisitions);
    trace_row_end(&columns->ended);
}

static inline void lock_row_add_hold(uint64_t *begun, struct lock_columns *columns, uint64_t acquisitions,
                                     uint64_t held)
{
    trace_row_begin(begun);
    trace_row_add(&columns->sampled, 1);
    trace_row_add(&columns->acquisitions, acquisitions);
    trace_row_add(&columns->holds, 1);
    trace_row_add(&columns->held, held);
    trace_row_raise(&columns->held_longest, held);
    trace_row_bucket(columns->hold_times, held);
    trace_row_end(&columns->ended);
}

struct lock_waited {
    uint64_t ticks, spins;
    bool slept;
};

static inline void lock_row_add_wait(uint64_t *begun, struct lock_columns *columns, struct lock_waited waited)
{
    trace_row_begin(begun);
    trace_row_add(&columns->contended, 1);
    if (waited.slept)
        trace_row_add(&columns->blocked, 1);
    if (waited.spins)
        trace_row_add(&columns->spins, waited.spins);
    trace_row_add(&columns->wait, waited.ticks);
    trace_row_raise(&columns->wait_longest, waited.ticks);
    trace_row_bucket(columns->wait_times, waited.ticks);
    trace_row_end(&columns->ended);
}

static inline void lock_site_add(char *ring, struct lock_key key, uint64_t site, enum lock_site_kind what,
                                 uint64_t ticks)
{
    struct trace_lock_sites_row *row = trace_lock_sites_row(ring, site, key.lock_class, key.pid, what);
    if (!row)
        return;
    trace_row_begin(&row->begun);
    trace_row_add(&row->times, 1);
    trace_row_add(&row->ticks, ticks);
    trace_row_raise(&row->longest, ticks);
    trace_row_end(&row->ended);
}

/* A sample without a hold time. */
static inline void lock_tables_add_sample(char *ring, struct lock_key key, uint64_t acquisitions)
{
    struct trace_lock_classes_row *of_class = trace_lock_classes_row(ring, key.lock_class);
    struct trace_locks_row *of_lock = trace_locks_row(ring, key.lock, key.lock_class, key.pid);
    if (of_class)
        lock_row_add_sample(&of_class->begun, (struct lock_columns *)&of_class->sampled, acquisitions);
    if (of_lock)
        lock_row_add_sample(&of_lock->begun, (struct lock_columns *)&of_lock->sampled, acquisitions);
}

static inline void lock_tables_add_hold(char *ring, struct lock_key key, uint64_t site, uint64_t acquisitions,
                                        uint64_t held)
{
    struct trace_lock_classes_row *of_class = trace_lock_classes_row(ring, key.lock_class);
    struct trace_locks_row *of_lock = trace_locks_row(ring, key.lock, key.lock_class, key.pid);
    if (of_class)
        lock_row_add_hold(&of_class->begun, (struct lock_columns *)&of_class->sampled, acquisitions, held);
    if (of_lock)
        lock_row_add_hold(&of_lock->begun, (struct lock_columns *)&of_lock->sampled, acquisitions, held);
    lock_site_add(ring, key, site, LOCK_SITE_HELD, held);
}

static inline void lock_tables_add_wait(char *ring, struct lock_key key, uint64_t site,
                                        struct lock_waited waited)
{
    struct trace_lock_classes_row *of_class = trace_lock_classes_row(ring, key.lock_class);
    struct trace_locks_row *of_lock = trace_locks_row(ring, key.lock, key.lock_class, key.pid);
    if (of_class)
        lock_row_add_wait(&of_class->begun, (struct lock_columns *)&of_class->sampled, waited);
    if (of_lock)
        lock_row_add_wait(&of_lock->begun, (struct lock_columns *)&of_lock->sampled, waited);
    lock_site_add(ring, key, site, LOCK_SITE_WAITED, waited.ticks);
}

#endif
