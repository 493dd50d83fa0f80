/*
 * arch/x86_64/trace_machine.h - primitives of the logging path that only depend on the CPU: the same in
 * Tarn and in programs of Linux (arch/x86_64/linux). Contract in <arch/trace.h>.
 *
 * Included by port/trace.h, which defines PORT_TRACE_TEST: a test of bit mask %0 in the byte at offset %c1 of
 * the info page.
 */
#pragma once

static inline __attribute__((always_inline)) bool arch_trace_enabled(unsigned class_number)
{
    __asm__ goto(PORT_TRACE_TEST "\n\tjnz %l[on]"
                 :
                 : "i"(1 << class_number % 8), "i"(class_number / 8)
                 : "cc"
                 : on);
    return false;
on:
    __attribute__((cold));
    return true;
}

static inline __attribute__((always_inline)) bool arch_trace_event_enabled(unsigned class_number,
                                                                           unsigned minor)
{
    __asm__ goto(PORT_TRACE_TEST "\n\tjz %l[off]"
                 :
                 : "i"(1 << minor % 8),
                   "i"(__builtin_offsetof(struct trace_info, switches) + class_number * 8 + minor / 8)
                 : "cc"
                 : off);
    return true;
off:
    __attribute__((cold));
    return false;
}

static inline __attribute__((always_inline)) uint64_t arch_trace_clock(void)
{
    uint64_t low, high; /* rdtsc clears the upper halves */
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "cc", "memory");
    return high << 32 | low;
}

static inline __attribute__((always_inline)) uint64_t arch_trace_index(uint64_t *index)
{
    return __atomic_load_n(index, __ATOMIC_RELAXED);
}

static inline __attribute__((always_inline)) bool arch_trace_swap(uint64_t *index, uint64_t old,
                                                                  uint64_t next)
{
    return __builtin_expect(
        __atomic_compare_exchange_n(index, &old, next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED), 1);
}

static inline __attribute__((always_inline)) uint64_t arch_trace_header(uint32_t id_length, uint64_t time)
{
    return time << 32 | id_length;
}
