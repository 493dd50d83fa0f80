/* SPDX-License-Identifier: BSD-2-Clause */
/* tables.h - tables of counters, as a program of the guest reads them. */
#ifndef TESTS_GUEST_TABLES_H
#define TESTS_GUEST_TABLES_H

#include <arch/trace.h>
#include <trace/events.h>
#include <trace/print/tables.h>
#include <trace/ring/table_read.h>

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
