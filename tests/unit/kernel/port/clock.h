/* port/clock.h (host tests) - a clock that only the test advances. */
#pragma once

extern uint64_t host_clock;

static inline uint64_t arch_clock(void)
{
    return __atomic_load_n(&host_clock, __ATOMIC_RELAXED);
}
