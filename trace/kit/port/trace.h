/*
 * port/trace.h (kit) - <arch/trace.h> for another kernel, in GCC's builtins and what that kernel's own
 * <trace_port.h> says:
 *
 *     uint64_t trace_port_clock(void)     ticks, 64 bits, never decreasing on one CPU; of all CPUs the same
 *     uint64_t trace_port_cpu(void)       the CPU that runs this: read anew at each call (asm volatile). The
 *                                         caller may migrate at the next instruction
 *     void trace_port_context(uint32_t cpu, struct trace_context *context)
 *                                         process, thread and name that run on that CPU. Called when a packet
 *                                         opens; must not log, block or fault
 *
 * Everything is CPU independent, for machines of either byte order with an atomic compare-and-swap of 64
 * bits. A kernel that has the ring's address in a register replaces arch_trace_ring().
 */
#pragma once

#include <trace_port.h>

extern struct trace_info trace_kit_info;
extern char *trace_kit_buffers[TRACE_CPUS_MAX]; /* the first of each ring; constant after trace_kit_start() */

static inline const struct trace_info *arch_trace_info(void)
{
    return &trace_kit_info;
}

static inline bool arch_trace_enabled(unsigned class_number)
{
    return __builtin_expect(trace_kit_info.mask >> class_number & 1, 0);
}

/* The kit switches classes only. */
static inline bool arch_trace_event_enabled(unsigned class_number, unsigned minor)
{
    return true;
}

static inline uint64_t arch_trace_clock(void)
{
    return trace_port_clock();
}

static inline char *arch_trace_ring(void)
{
    return trace_kit_buffers[trace_port_cpu()] -
           TRACE_BUFFERS_OFFSET; /* the compiler adds it to what follows */
}

static inline bool arch_trace_same_ring(const char *ring)
{
    return __builtin_expect(ring == arch_trace_ring(), 1);
}

static inline uint64_t arch_trace_index(uint64_t *index)
{
    return __atomic_load_n(index, __ATOMIC_RELAXED);
}

static inline bool arch_trace_swap(uint64_t *index, uint64_t old, uint64_t next)
{
    return __builtin_expect(
        __atomic_compare_exchange_n(index, &old, next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED), 1);
}

static inline uint64_t arch_trace_header(uint32_t id_length, uint64_t time)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? time << 32 | id_length
                                                     : (uint64_t)id_length << 32 | (uint32_t)time;
}

/* Slow path only. */
static inline uint32_t arch_trace_cpu(const char *ring)
{
    uint32_t cpu = 0;
    while (cpu < trace_kit_info.cpu_count && trace_kit_buffers[cpu] != ring + TRACE_BUFFERS_OFFSET)
        cpu++;
    return cpu;
}

static inline void arch_trace_context(const char *ring, struct trace_context *context)
{
    trace_port_context(arch_trace_cpu(ring), context);
}
