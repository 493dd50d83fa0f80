/* SPDX-License-Identifier: BSD-2-Clause */
/* counter_test.c - tests counter_events.h with the CPUID values of CPUs that have counters, and of some that
 * should be refused. */
#include "../../../arch/x86_64/counter_events.h"
#include <stdio.h>
#include <string.h>
#include <tests/tap.h>

struct leaf {
    uint32_t a, b, c, d;
};

/* Version 4, 4 general counters of 48 bits, 7 events, 3 fixed ones of 48 bits: Skylake. */
static const struct leaf skylake = {0x07300404, 0, 0, 0x603};
/* Version 2, 2 general counters of 40 bits, no fixed counter: Core Duo's successor in its plainest form. */
static const struct leaf plain = {0x07280202, 0, 0, 0};
/* Version 5, 8 general counters, fixed ones 0 to 3 named by ECX: Ice Lake. */
static const struct leaf ice_lake = {0x08300805, 0, 0xf, 0x8604};
/* Nehalem: version 3; reference cycles of general counters are absent (EBX bit 2). */
static const struct leaf nehalem = {0x07300403, 0x4, 0, 0x603};

static struct counter_events events;

static const char *find(struct leaf leaf)
{
    return counter_events_find(&events, 0x16, leaf.a, leaf.b, leaf.c, leaf.d);
}

/* 1 + place of an event; 0: there is none */
static uint8_t place_of(const char *name)
{
    for (uint32_t i = 0; i < events.count; i++)
        if (!strcmp(events.event[i].name, name))
            return (uint8_t)(i + 1);
    return 0;
}

static bool names_are(const char *wanted)
{
    char names[200] = "";
    for (uint32_t i = 0; i < events.count; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? " " : "",
                 events.event[i].name);
    if (strcmp(names, wanted) != 0)
        printf("# found: %s\n", names);
    return !strcmp(names, wanted);
}

static void test_events(void)
{
    check(!find(skylake) && names_are("instructions cycles reference_cycles bus_cycles llc_references "
                                      "llc_misses branches branch_misses"),
          "Skylake has seven architectural events and reference cycles");
    check(events.general == 4 && events.event[0].fixed == 0 && events.event[0].bits == 48,
          "its instructions have a fixed counter of 48 bits");
    check(!find(plain) && !place_of("reference_cycles") && place_of("instructions") &&
              events.event[0].fixed == COUNTER_NOT_FIXED && events.event[0].bits == 40 &&
              events.event[0].selector == 0xc0,
          "without fixed counters a general one counts instructions");
    check(!find(ice_lake) && place_of("topdown_slots") &&
              events.event[place_of("topdown_slots") - 1].fixed == 3 && events.general == 8,
          "Ice Lake has a fourth fixed counter");
    check(!find(nehalem) && !place_of("bus_cycles") && place_of("reference_cycles"),
          "an event that EBX calls absent is not there");
    struct leaf short_vector = plain;
    short_vector.a = 0x02280202; /* the vector has two bits */
    check(!find(short_vector) && names_are("instructions cycles"), "nor is one beyond the vector");
}

static bool refuses(const char *because, struct leaf leaf)
{
    const char *reason = find(leaf);
    return reason && strstr(reason, because) && events.count == 0;
}

static void test_refusals(void)
{
    check(refuses("no leaf 10", (struct leaf){0, 0, 0, 0}), "leaf 10 of zeros, as of QEMU");
    const char *reason = counter_events_find(&events, 9, 0x07300404, 0, 0, 0x603);
    check(reason && strstr(reason, "no leaf 10") && !events.count, "values of a leaf that does not exist");
    check(refuses("version 1", (struct leaf){0x07280201, 0, 0, 0}), "version 1");
    check(refuses("no event", (struct leaf){0x07280202, 0x7f, 0, 0}), "every event is absent");
    check(refuses("no event", (struct leaf){0x07280002, 0, 0, 0}), "there are no counters");
}

static void test_places(void)
{
    struct counter_setting setting;
    uint32_t numbers[6];
    find(skylake);
    const uint8_t mixed[] = {place_of("cycles") - 1, place_of("llc_misses") - 1, place_of("instructions") - 1,
                             place_of("branches") - 1, place_of("llc_misses") - 1};
    check(counter_events_place(&events, mixed, 5, numbers, &setting), "five, of which two are equal, fit");
    check(numbers[0] == 0x40000001 && numbers[1] == 0 && numbers[2] == 0x40000000 && numbers[3] == 1 &&
              numbers[4] == 0,
          "fixed counters are read as such, and equal events share a general one");
    check(setting.fixed_control == 0x33 && setting.global_control == 0x300000003ull,
          "the control registers start them in kernel and programs");
    check(setting.selector_count == 2 && setting.selector[0] == 0x43412e && setting.selector[1] == 0x4300c4,
          "the selectors have event, mask, and modes");
    find(plain);
    const uint8_t three[] = {0, 1, place_of("branches") - 1};
    check(counter_events_place(&events, three, 2, numbers, &setting) && numbers[1] == 1,
          "two events fit into two general counters");
    check(!counter_events_place(&events, three, 3, numbers, &setting), "a third does not");
    check(counter_events_place(&events, three, 0, numbers, &setting) && setting.global_control == 0,
          "no event stops all");
}

int main(void)
{
    test_events();
    test_refusals();
    test_places();
    return finish_tests();
}
