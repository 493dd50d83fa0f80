/* port/counter.h (x86_64) - the emulated CPU has no counters; with -icount its time-stamp counter is one.
 * counter.c finds the counters of others. */
#pragma once

static inline __attribute__((always_inline)) uint32_t arch_instructions(void)
{
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
    return low;
}

static inline bool arch_counts_instructions(void)
{
    return false;
}

#ifdef TARN_KERNEL
static inline uint64_t arch_counter_read(uint32_t number)
{
    uint32_t low, high;
    __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(number) : "memory");
    return (uint64_t)high << 32 | low;
}
#endif
