/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch/ppc64/counter.c - the counters of arch/counter.h.
 *
 * PMC5 and PMC6 always count (cpu_load), so there is nothing to start. PMC1 to PMC4 count events that differ
 * from one model to the next; the emulated CPU offers only instructions and cycles there, too.
 */
#include <arch/counter.h>

static const struct arch_counter counters[] = {
    [PORT_COUNTER_INSTRUCTIONS] = {"instructions", 32},
    [PORT_COUNTER_CYCLES] = {"cycles", 32},
};

uint32_t arch_counters(const struct arch_counter **first, const char **missing)
{
    (void)missing;
    *first = counters;
    return sizeof counters / sizeof *counters;
}

bool arch_counters_start(const uint8_t *chosen, uint32_t count, uint32_t *registers)
{
    for (uint32_t i = 0; i < count; i++)
        registers[i] = chosen[i];
    return true;
}
