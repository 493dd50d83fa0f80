/*
 * trace/model/port/trace.h - the port of <arch/trace.h> for the harnesses. Each thread of GenMC is a
 * CPU.
 *
 * The ring of CPU 0 is the one that is checked. Its clock is ordinary memory that only CPU 0 loads, in the
 * order of its program. A thread that migrates from there goes on with the ring of CPU 1 if it begins again.
 */
#pragma once

#define RING_BYTES 0x201000ull /* of one ring here */
/* A constant where nothing changes it: the compiler then knows the geometry, and GenMC's graphs are smaller.
 */
#if defined CLEAR || defined STREAM || defined EVERY
#define INFO_CONST
#else
#define INFO_CONST const
#endif
extern INFO_CONST struct trace_info info_page;
char *ring_of(int of_cpu);
extern __thread int cpu; /* of the thread */
uint64_t read_clock(void);
void pass(int point);
#define TRACE_TEST_POINT(point) pass(point)

static inline const struct trace_info *arch_trace_info(void)
{
    return &info_page;
}

static inline uint64_t arch_trace_clock(void)
{
    return read_clock();
}

static inline char *arch_trace_ring(void)
{
    return ring_of(cpu);
}

static inline bool arch_trace_same_ring(const char *ring)
{
    return ring == arch_trace_ring();
}

#ifndef INDEX_LOAD
#define INDEX_LOAD __ATOMIC_RELAXED
#define INDEX_SWAP __ATOMIC_RELAXED
#endif

static inline uint64_t arch_trace_index(uint64_t *index)
{
    return __atomic_load_n(index, INDEX_LOAD);
}

static inline bool arch_trace_swap(uint64_t *index, uint64_t old, uint64_t next)
{
    return __atomic_compare_exchange_n(index, &old, next, false, INDEX_SWAP, __ATOMIC_RELAXED);
}

static inline uint64_t arch_trace_header(uint32_t id_length, uint64_t time)
{
    return time << 32 | id_length;
}

static inline uint32_t arch_trace_cpu(const char *ring)
{
    return ring != ring_of(0);
}

static inline void arch_trace_context(const char *ring, struct trace_context *context)
{
    (void)ring, (void)context;
}
