/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counter_events.h - architectural performance monitoring: which events CPUID leaf 10 describes, and which
 * registers count them (Intel SDM volume 3, "Architectural Performance Monitoring").
 *
 * It depends on CPUID's values only, so counter_test.c tests it with values of CPUs that no test machine has.
 * counter.c stores to the registers.
 */
#ifndef X86_64_COUNTER_EVENTS_H
#define X86_64_COUNTER_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#define COUNTER_LEAF      10u
#define COUNTER_EVENTS    10u
#define COUNTER_NOT_FIXED 0xffu

struct counter_event {
    const char *name;
    uint32_t bits;     /* width of its register */
    uint8_t fixed;     /* number of its fixed counter; COUNTER_NOT_FIXED: a general one counts it */
    uint16_t selector; /* event and mask, of a general counter */
};

/* The events and counters of a machine. */
struct counter_events {
    uint32_t general; /* number of general counters */
    uint32_t count;   /* of events */
    struct counter_event event[COUNTER_EVENTS];
};

/* The values of registers that count some events, and where each is read. */
struct counter_setting {
    uint64_t fixed_control, global_control;
    uint32_t selector_count;
    uint64_t selector[8]; /* of general counters 0 to selector_count - 1 */
};

/* Leaf 10, and the highest leaf. Returns NULL, or the reason why no event can be counted. */
const char *counter_events_find(struct counter_events *events, uint32_t leaf_max, uint32_t a, uint32_t b,
                                uint32_t c, uint32_t d);
/* Chooses registers for events: their numbers for RDPMC go to `registers`. Equal events share one. False:
 * there are too few general counters. */
bool counter_events_place(const struct counter_events *events, const uint8_t *chosen, uint32_t count,
                          uint32_t *registers, struct counter_setting *setting);

#endif
