/* SPDX-License-Identifier: BSD-2-Clause */
/* tables.h - tables of counters, as a program of the guest reads them. */
#ifndef TESTS_GUEST_TABLES_H
#define TESTS_GUEST_TABLES_H

#include <arch/trace.h>
#include <trace/event/lock_tables.h>
#include <trace/events.h>
#include <trace/ring/table_read.h>
#include <user/tarnprof/rows.h>

union row {
    uint64_t words[TRACE_TABLE_ROW_WORDS_MAX];
    struct trace_lock_classes_row of_class;
    struct trace_locks_row of_lock;
    struct trace_lock_sites_row site;
};

static inline uint64_t sum_of(const uint64_t histogram[TRACE_TABLE_BUCKETS])
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < TRACE_TABLE_BUCKETS; i++)
        sum += histogram[i];
    return sum;
}

static inline const char *table_ring(uint32_t cpu)
{
    return (const char *)(USER_TRACE_RINGS + ((uint64_t)cpu << TRACE_RING_SHIFT));
}

/* Walks through the rows of all CPUs. */
static inline struct trace_table_walk walk_table(const char *name)
{
    return (struct trace_table_walk){
        .table = trace_table_named(name), .ring_of = table_ring, .cpu_count = arch_trace_info()->cpu_count};
}

#endif
