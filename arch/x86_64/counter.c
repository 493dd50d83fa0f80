/* SPDX-License-Identifier: BSD-2-Clause */
/* arch/x86_64/counter.c - the counters of arch/counter.h: model-specific registers as counter_events.h
 * chooses. QEMU's CPU has none, so only the choice is tested. */
#include "counter_events.h"
#include "port.h"
#include <arch/counter.h>

#define MSR_SELECTOR_0     0x186 /* event select, one for each general counter */
#define MSR_FIXED_CONTROL  0x38d
#define MSR_GLOBAL_CONTROL 0x38f

static struct counter_events events; /* written once, by the boot CPU */
static struct arch_counter counters[COUNTER_EVENTS];
static const char *reason;
static bool found;
_Static_assert(COUNTER_EVENTS <= ARCH_COUNTERS_MAX, "they fit");

static void find(void)
{
    const struct cpuid leaf = read_cpuid(COUNTER_LEAF);
    reason = counter_events_find(&events, read_cpuid(0).a, leaf.a, leaf.b, leaf.c, leaf.d);
    for (uint32_t i = 0; i < events.count; i++)
        counters[i] = (struct arch_counter){events.event[i].name, events.event[i].bits};
    found = true;
}

uint32_t arch_counters(const struct arch_counter **first, const char **missing)
{
    if (!found)
        find();
    *first = counters;
    *missing = reason;
    return events.count;
}

bool arch_counters_start(const uint8_t *chosen, uint32_t count, uint32_t *registers)
{
    struct counter_setting setting;
    if (!counter_events_place(&events, chosen, count, registers, &setting))
        return false;
    if (!events.count) /* then the registers do not exist */
        return true;
    write_msr(MSR_GLOBAL_CONTROL, 0);
    for (uint32_t i = 0; i < events.general; i++)
        write_msr(MSR_SELECTOR_0 + i, i < setting.selector_count ? setting.selector[i] : 0);
    write_msr(MSR_FIXED_CONTROL, setting.fixed_control);
    write_msr(MSR_GLOBAL_CONTROL, setting.global_control);
    return true;
}
