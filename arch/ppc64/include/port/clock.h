/* port/clock.h (ppc64) - the clock is the timebase: readable everywhere, the same on all CPUs. */
#pragma once

static inline uint64_t arch_clock(void)
{
    uint64_t ticks;
    __asm__ volatile("mfspr %0, 268" : "=r"(ticks));
    return ticks;
}
