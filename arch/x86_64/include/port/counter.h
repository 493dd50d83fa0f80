/* SPDX-License-Identifier: BSD-2-Clause */
/* port/counter.h (x86_64) - the emulated CPU has no counters; with -icount its time-stamp counter is one. */
#ifndef PORT_COUNTER_H
#define PORT_COUNTER_H

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

#endif
