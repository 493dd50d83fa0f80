/*
 * arch/ppc64/counter.c - the counters of arch/counter.h.
 *
 * PMC5 (instructions) and PMC6 (cycles) always count (cpu_load), so there is nothing to start. PMC1 to PMC4
 * count events that differ between models; the emulated CPU offers only instructions and cycles there, too.
 *
 * QEMU 7.2 counts a cycle each nanosecond, also while the CPU sleeps, and too few instructions: it forgets
 * a block that ends with a jump to an address in a register or to another page (pmu_count_insns of
 * target/ppc/translate.c is called only if CF_NO_GOTO_PTR is in the block's `flags`, but `cflags` has it).
 * So under -icount, where a cycle is an instruction, `ipc` is below 1. Loops are counted right:
 * tests/host/profile, tests/host/counters.
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

void arch_counters_start(const uint8_t *chosen, uint32_t count, uint32_t *registers)
{
    for (uint32_t i = 0; i < count; i++)
        registers[i] = chosen[i];
}
