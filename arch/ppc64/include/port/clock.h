/* SPDX-License-Identifier: BSD-2-Clause */
/* port/clock.h (ppc64) - the clock is the timebase: readable everywhere, the same on all CPUs. */
#ifndef PORT_CLOCK_H
#define PORT_CLOCK_H

static inline uint64_t arch_clock(void)
{
    uint64_t ticks;
    __asm__ volatile("mfspr %0, 268" : "=r"(ticks));
    return ticks;
}

#endif
