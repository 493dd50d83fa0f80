/*
 * port/trace.h (x86_64 Linux) - the logging path in programs of Linux; contract in <arch/trace.h>.
 *
 * The process has a ring for each CPU (tests/peers/peer_tarn.c). Linux keeps the number of a thread's CPU in
 * the thread's struct rseq, which the C library registers, at the same distance from FS base in all threads.
 *
 * The functions here that are not in the contract serve the part that Tarn's kernel has in Tarn
 * (tests/peers/ask.c).
 */
#pragma once

#include <linux/rseq.h>
#include <stddef.h>

extern struct trace_info host_info;
extern char *host_rings[TRACE_CPUS_MAX]; /* each one's first buffer, as THREAD_BLOCK_RING of a thread block */
extern char *host_first_ring;            /* CPU 0's */
extern int64_t host_area;                /* from FS base to the thread's struct rseq */
void host_context(struct trace_context *context);

static inline const struct trace_info *arch_trace_info(void)
{
    return &host_info;
}

/* The bytes are constant during a measurement, but the compiler must not know. */
#define PORT_TRACE_TEST "testb %0, host_info+%c1(%%rip)"

#include <arch/x86_64/trace_machine.h>

/* The CPU that the thread runs on; it may migrate at the next instruction. */
static inline __attribute__((always_inline)) uint32_t port_host_cpu(void)
{
    uint32_t cpu;
    __asm__ volatile("movl %%fs:%c[cpu](%[area]), %[result]"
                     : [result] "=r"(cpu)
                     : [area] "r"(host_area), [cpu] "i"(offsetof(struct rseq, cpu_id))
                     : "memory");
    return cpu;
}

#ifdef TRACE_CAS
static inline __attribute__((always_inline)) char *arch_trace_ring(void)
{
    return host_rings[port_host_cpu()] - TRACE_BUFFERS_OFFSET;
}
#else
extern __thread char *host_ring; /* the ring that the thread has taken to change it */
/* A block asks for space; `ip` lies in its cell. Returns where it goes on. */
uint64_t host_ask(uint64_t ip);
static inline char *arch_trace_ring(void)
{
    return host_ring;
}
#endif

static inline __attribute__((always_inline)) bool arch_trace_same_ring(const char *ring)
{
    return host_rings[port_host_cpu()] == ring + TRACE_BUFFERS_OFFSET;
}

static inline uint32_t arch_trace_cpu(const char *ring)
{
    return (uint32_t)((uint64_t)(ring - host_first_ring) >> TRACE_RING_SHIFT);
}

static inline void arch_trace_context(const char *ring, struct trace_context *context)
{
    host_context(context);
}
