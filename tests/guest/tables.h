/* tables.h - tables of counters, as a program of the guest reads them. */
#pragma once

#include <arch/trace.h>
#include <trace/event/lock_tables.h>
#include <trace/events.h>
#include <trace/ring/table_read.h>
#include <user/tarnprof/rows.h>

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

/* The rows of all CPUs, added up. */
static inline struct trace_rows all_rows(const char *name)
{
    struct trace_rows rows = {.table = trace_table_named(name)};
    if (!trace_rows_read(&rows, table_ring, arch_trace_info()->cpu_count))
        printf("Bail out! no memory for rows\n");
    return rows;
}

static inline uint64_t table_head(const char *name, enum trace_table_head_word word)
{
    uint64_t sum = 0;
    for (uint32_t cpu = 0; cpu < arch_trace_info()->cpu_count; cpu++)
        sum += trace_table_head_word(trace_table_named(name), table_ring(cpu), word);
    return sum;
}
