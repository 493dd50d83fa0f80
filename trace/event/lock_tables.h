/*
 * trace/event/lock_tables.h - updates the tables lock_classes, locks and lock_sites (trace/schema/lock.ev),
 * for kernel and programs.
 *
 * A sampled acquisition is counted once, at its release, with its hold time; a wait is counted where it ends.
 * Each changes the lock's row, or, if the table is full, the row of its class: readers add both (FORMAT.md,
 * "Tables").
 *
 * `lock`: address; `pid`: 0 kernel; `site`: return address into the function that took the lock; times are in
 * ticks. No lock; trace/ring/table.h explains concurrent updates and `writers`.
 */
#pragma once

#include <trace/tables.h>

struct lock_key {
    uint64_t lock;
    uint32_t lock_class, pid;
};

enum lock_site_kind { LOCK_SITE_WAITED = 0, LOCK_SITE_HELD = 1 }; /* column `what` of lock_sites */

/* ---- rows ------------------------------------------------------------------------------------------- */

/* The row that an update of a lock changes. */
struct lock_row {
    uint64_t *begun;
    struct trace_locks_columns *columns; /* NULL: there are no tables (yet) */
};

static inline struct lock_row lock_class_row(char *ring, uint32_t lock_class)
{
    struct trace_lock_classes_row *row = trace_lock_classes_row(ring, lock_class);
    return row ? (struct lock_row){&row->begun, (struct trace_locks_columns *)&row->sampled}
               : (struct lock_row){NULL, NULL};
}

static inline struct lock_row lock_row_or_class(struct trace_locks_row *row, char *ring, uint32_t lock_class)
{
    return row ? (struct lock_row){&row->begun, (struct trace_locks_columns *)&row->sampled}
               : lock_class_row(ring, lock_class);
}

static inline struct lock_row lock_row_of(char *ring, struct lock_key key)
{
    return lock_row_or_class(trace_locks_row(ring, key.lock, key.lock_class, key.pid), ring, key.lock_class);
}

/* ---- updates ---------------------------------------------------------------------------------------- */

/* A sampled acquisition. */
struct lock_sample {
    uint32_t acquisitions; /* that it stands for */
    bool is_tried;         /* by a function that only tries */
};

static inline void lock_columns_add_sample(struct trace_locks_columns *columns, struct lock_sample sample,
                                           enum trace_row_writers writers)
{
    const uint64_t acquisitions = sample.acquisitions;
    trace_row_add(&columns->sampled, 1, writers);
    trace_row_add(&columns->acquisitions, acquisitions, writers);
    if (acquisitions != 1)
        trace_row_add(&columns->variance, acquisitions * (acquisitions - 1), writers);
    if (sample.is_tried)
        trace_row_add(&columns->tried, acquisitions, writers);
}

/* An acquisition without a hold time. */
static inline void lock_row_add_sample(struct lock_row row, struct lock_sample sample,
                                       enum trace_row_writers writers)
{
    if (!row.columns)
        return;
    trace_row_begin(row.begun, writers);
    lock_columns_add_sample(row.columns, sample, writers);
    trace_row_end(&row.columns->ended, writers);
}

static inline void lock_row_add_hold(struct lock_row row, struct lock_sample sample, uint64_t held,
                                     enum trace_row_writers writers)
{
    if (!row.columns)
        return;
    trace_row_begin(row.begun, writers);
    lock_columns_add_sample(row.columns, sample, writers);
    trace_row_add(&row.columns->holds, 1, writers);
    trace_row_add(&row.columns->held, held, writers);
    trace_row_raise(&row.columns->held_longest, held, writers);
    trace_row_bucket(row.columns->hold_times, held, writers);
    trace_row_end(&row.columns->ended, writers);
}

struct lock_waited {
    uint64_t ticks, spins;
    bool slept;
};

static inline void lock_row_add_wait(struct lock_row row, struct lock_waited waited)
{
    if (!row.columns)
        return;
    trace_row_begin(row.begun, TRACE_ROW_OF_MANY);
    trace_row_add(&row.columns->contended, 1, TRACE_ROW_OF_MANY);
    if (waited.slept) {
        trace_row_add(&row.columns->blocked, 1, TRACE_ROW_OF_MANY);
        trace_row_add(&row.columns->blocked_wait, waited.ticks, TRACE_ROW_OF_MANY);
    }
    if (waited.spins)
        trace_row_add(&row.columns->spins, waited.spins, TRACE_ROW_OF_MANY);
    trace_row_add(&row.columns->wait, waited.ticks, TRACE_ROW_OF_MANY);
    trace_row_raise(&row.columns->wait_longest, waited.ticks, TRACE_ROW_OF_MANY);
    trace_row_bucket(row.columns->wait_times, waited.ticks, TRACE_ROW_OF_MANY);
    trace_row_end(&row.columns->ended, TRACE_ROW_OF_MANY);
}

static inline void lock_row_add_failed(struct lock_row row)
{
    if (!row.columns)
        return;
    trace_row_begin(row.begun, TRACE_ROW_OF_MANY);
    trace_row_add(&row.columns->failed, 1, TRACE_ROW_OF_MANY);
    trace_row_end(&row.columns->ended, TRACE_ROW_OF_MANY);
}

static inline void lock_site_add(struct trace_lock_sites_row *row, uint64_t ticks,
                                 enum trace_row_writers writers)
{
    if (!row)
        return;
    trace_row_begin(&row->begun, writers);
    trace_row_add(&row->times, 1, writers);
    trace_row_add(&row->ticks, ticks, writers);
    trace_row_raise(&row->longest, ticks, writers);
    trace_row_end(&row->ended, writers);
}

static inline void lock_tables_add_wait(char *ring, struct lock_key key, uint64_t site,
                                        struct lock_waited waited)
{
    lock_row_add_wait(lock_row_of(ring, key), waited);
    lock_site_add(trace_lock_sites_row(ring, site, key.lock_class, key.pid, LOCK_SITE_WAITED), waited.ticks,
                  TRACE_ROW_OF_MANY);
}
