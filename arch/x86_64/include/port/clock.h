/* port/clock.h (x86_64) - the clock is the time-stamp counter: readable everywhere, the same on all CPUs. */
#pragma once

static inline uint64_t arch_clock(void)
{
    uint64_t low, high; /* rdtsc clears the upper halves */
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return high << 32 | low;
}
