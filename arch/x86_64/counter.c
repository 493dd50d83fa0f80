/*
 * arch/x86_64/counter.c - the counters of arch/counter.h: the fixed ones of architectural performance
 * monitoring (Intel SDM volume 3; CPUID leaf 10, version 2 or later).
 *
 * QEMU's emulation has no such leaf, so only the refusal is tested.
 */
#include "port.h"
#include <arch/counter.h>

#define COUNTER_LEAF       10u
#define COUNTER_VERSION    2u
#define MSR_FIXED_CONTROL  0x38d
#define MSR_GLOBAL_CONTROL 0x38f
#define FIXED_ALL_MODES    3ull
#define FIXED_FIELD_BITS   4u
#define GLOBAL_FIXED_BIT   32u
#define RDPMC_FIXED        0x40000000u

static struct arch_counter counters[] = {
    {.name = "instructions"}, {.name = "cycles"}, {.name = "reference_cycles"}};
#define COUNTERS (sizeof counters / sizeof *counters)

uint32_t arch_counters(const struct arch_counter **first, const char **missing)
{
    const struct cpuid leaf = read_cpuid(COUNTER_LEAF);
    const uint32_t fixed = leaf.d & 0x1f, bits = leaf.d >> 5 & 0xff;
    *first = counters;
    *missing = "CPUID has no leaf 10, architectural performance monitoring";
    if (read_cpuid(0).a < COUNTER_LEAF || !(leaf.a & 0xff))
        return 0;
    *missing = "CPUID leaf 10 describes no fixed counters";
    if ((leaf.a & 0xff) < COUNTER_VERSION || !bits)
        return 0;
    for (uint32_t i = 0; i < COUNTERS; i++)
        counters[i].bits = bits;
    return fixed < COUNTERS ? fixed : COUNTERS;
}

void arch_counters_start(const uint8_t *chosen, uint32_t count, uint32_t *registers)
{
    const struct arch_counter *first;
    const char *missing;
    uint64_t fixed = 0, global = 0;
    if (!arch_counters(&first, &missing)) /* then the registers do not exist */
        return;
    for (uint32_t i = 0; i < count; i++) {
        fixed |= FIXED_ALL_MODES << FIXED_FIELD_BITS * chosen[i];
        global |= 1ull << (GLOBAL_FIXED_BIT + chosen[i]);
        registers[i] = RDPMC_FIXED | chosen[i];
    }
    write_msr(MSR_GLOBAL_CONTROL, 0);
    write_msr(MSR_FIXED_CONTROL, fixed);
    write_msr(MSR_GLOBAL_CONTROL, global);
}
