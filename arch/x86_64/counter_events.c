/* SPDX-License-Identifier: BSD-2-Clause */
/* counter_events.c - reads CPUID leaf 10. Interface: counter_events.h. */
#include "counter_events.h"

#define ALWAYS_ABSENT 255u /* beyond every vector */

/* `absent`: the bit of EBX that says that a general counter cannot count it. The fixed counter of cycles at
 * the TSC's rate is not the event of bus cycles, though EBX calls both reference cycles. */
static const struct {
    const char *name;
    uint8_t fixed, absent;
    uint16_t selector;
} known[COUNTER_EVENTS] = {
    {"instructions", 0, 1, 0x00c0},
    {"cycles", 1, 0, 0x003c},
    {"reference_cycles", 2, ALWAYS_ABSENT, 0},
    {"topdown_slots", 3, 7, 0x01a4},
    {"bus_cycles", COUNTER_NOT_FIXED, 2, 0x013c},
    {"llc_references", COUNTER_NOT_FIXED, 3, 0x4f2e},
    {"llc_misses", COUNTER_NOT_FIXED, 4, 0x412e},
    {"branches", COUNTER_NOT_FIXED, 5, 0x00c4},
    {"branch_misses", COUNTER_NOT_FIXED, 6, 0x00c5},
};

struct leaf {
    uint32_t version, general, general_bits, vector_length, fixed, fixed_bits, absent, fixed_mask;
};

static struct leaf parse_leaf(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    return (struct leaf){.version = a & 0xff,
                         .general = a >> 8 & 0xff,
                         .general_bits = a >> 16 & 0xff,
                         .vector_length = a >> 24,
                         .absent = b,
                         .fixed = d & 0x1f,
                         .fixed_bits = d >> 5 & 0xff,
                         .fixed_mask = c};
}

/* From version 5 on, ECX names fixed counters, too. */
static bool has_fixed(const struct leaf *leaf, uint32_t number)
{
    return number != COUNTER_NOT_FIXED &&
           (number < leaf->fixed || (leaf->version >= 5 && leaf->fixed_mask >> number & 1));
}

static bool has_general(const struct leaf *leaf, uint32_t absent)
{
    return absent < leaf->vector_length && !(leaf->absent >> absent & 1) && leaf->general > 0;
}

const char *counter_events_find(struct counter_events *events, uint32_t leaf_max, uint32_t a, uint32_t b,
                                uint32_t c, uint32_t d)
{
    const struct leaf leaf = parse_leaf(a, b, c, d);
    *events = (struct counter_events){.general = leaf.general < 8 ? leaf.general : 8};
    if (leaf_max < COUNTER_LEAF || leaf.version == 0)
        return "CPUID has no leaf 10, architectural performance monitoring";
    if (leaf.version == 1)
        return "CPUID leaf 10 is of version 1, and version 2 is needed";
    for (uint32_t i = 0; i < sizeof known / sizeof *known && known[i].name; i++) {
        const bool fixed = has_fixed(&leaf, known[i].fixed);
        if (!fixed && !has_general(&leaf, known[i].absent))
            continue;
        events->event[events->count++] =
            (struct counter_event){.name = known[i].name,
                                   .bits = fixed ? leaf.fixed_bits : leaf.general_bits,
                                   .fixed = fixed ? known[i].fixed : COUNTER_NOT_FIXED,
                                   .selector = known[i].selector};
    }
    return events->count ? 0 : "CPUID leaf 10 describes no event that can be counted";
}

#define RDPMC_FIXED      0x40000000u
#define SELECTOR_USER    0x10000u
#define SELECTOR_SYSTEM  0x20000u
#define SELECTOR_ENABLE  0x400000u
#define FIXED_ALL_MODES  3ull
#define FIXED_FIELD_BITS 4u
#define GLOBAL_FIXED_BIT 32u

static void place_fixed(uint32_t fixed, uint32_t *number, struct counter_setting *setting)
{
    setting->fixed_control |= FIXED_ALL_MODES << FIXED_FIELD_BITS * fixed;
    setting->global_control |= 1ull << (GLOBAL_FIXED_BIT + fixed);
    *number = RDPMC_FIXED | fixed;
}

static bool place_general(const struct counter_events *events, uint64_t selector, uint32_t *number,
                          struct counter_setting *setting)
{
    uint32_t i = 0;
    selector |= SELECTOR_USER | SELECTOR_SYSTEM | SELECTOR_ENABLE;
    while (i < setting->selector_count && setting->selector[i] != selector)
        i++;
    if (i == events->general)
        return false;
    setting->selector[i] = selector;
    if (i == setting->selector_count)
        setting->selector_count++;
    setting->global_control |= 1ull << i;
    *number = i;
    return true;
}

bool counter_events_place(const struct counter_events *events, const uint8_t *chosen, uint32_t count,
                          uint32_t *registers, struct counter_setting *setting)
{
    *setting = (struct counter_setting){.fixed_control = 0};
    for (uint32_t i = 0; i < count; i++) {
        const struct counter_event *event = &events->event[chosen[i]];
        if (event->fixed != COUNTER_NOT_FIXED)
            place_fixed(event->fixed, &registers[i], setting);
        else if (!place_general(events, event->selector, &registers[i], setting))
            return false;
    }
    return true;
}
