/*
 * tests/unit/trace/host/port/trace.h - the unit tests' port of <arch/trace.h>.
 *
 * Info page and rings are ordinary memory (ring_harness.c); the ring of "this CPU" is a variable of the
 * thread; the clock is a counter that tests can make jump. Every named race ring calls test_point().
 */
#pragma once

extern struct trace_info test_info;
extern __thread char *test_ring; /* of the CPU that the thread runs on */
extern char *test_rings;         /* CPU 0's */
uint64_t test_clock(void);
void test_point(int point);
#define TRACE_TEST_POINT(point) test_point(point)

static inline const struct trace_info *arch_trace_info(void)
{
    return &test_info;
}

static inline bool arch_trace_enabled(unsigned class_number)
{
    return test_info.mask >> class_number & 1;
}

static inline bool arch_trace_event_enabled(unsigned class_number, unsigned minor)
{
    return test_info.switches[class_number] >> minor & 1;
}

static inline uint64_t arch_trace_clock(void)
{
    return test_clock();
}

static inline char *arch_trace_ring(void)
{
    return test_ring;
}

static inline bool arch_trace_same_ring(const char *ring)
{
    return ring == test_ring;
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
    const union {
        uint32_t half[2];
        uint64_t word;
    } u = {{id_length, (uint32_t)time}};
    return u.word;
}

static inline uint32_t arch_trace_cpu(const char *ring)
{
    return (uint32_t)((uint64_t)(ring - test_rings) >> TRACE_RING_SHIFT);
}

static inline void arch_trace_context(const char *ring, struct trace_context *context)
{
    *context = (struct trace_context){.pid = 7, .tid = 70 + arch_trace_cpu(ring), .name = "unit test"};
}
