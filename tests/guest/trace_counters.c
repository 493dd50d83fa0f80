/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace_counters.c - binding hardware counters: what there is, what is refused, and that a machine without
 * counters says so. tests/host/counters checks what is counted.
 */
#include <string.h>
#include <tarn/error.h>

#include <tests/guest/trace_help.h>
#include <trace/counter.h>
#include <trace/print/words.h>

#define COUNTERS_MAX 16
#define LOOP         100000u

static struct system_counter counters[COUNTERS_MAX];
static uint32_t count;

static void read_counters(void)
{
    int64_t bytes = sys_system_read(SYSTEM_COUNTERS, 0, counters, sizeof counters);
    count = bytes > 0 ? (uint32_t)((uint64_t)bytes / sizeof *counters) : 0;
}

static int64_t bind(uint64_t packed)
{
    return control(TRACE_OP_BIND_COUNTERS, packed, 0);
}

static int64_t read_own(uint64_t sums[COUNTER_SLOTS])
{
    return sys_system_read(SYSTEM_OWN_COUNTERS, 0, sums, COUNTER_SLOTS * sizeof *sums);
}

static void check_refusals(void)
{
    uint64_t sums[COUNTER_SLOTS];
    check(bind(count + 1) == -E_NOT_FOUND && bind(0xff) == -E_NOT_FOUND,
          "no counter has a number beyond the list");
    check(bind(1ull << 8) == -E_BAD_ARGUMENT, "slots have no gaps");
    check(bind(1ull << 8 * COUNTER_SLOTS | 0x01010101) == -E_BAD_ARGUMENT, "there are no more slots");
    check(control(TRACE_OP_BIND_COUNTERS, 0, 1) == -E_BAD_ARGUMENT, "the second argument is 0");
    check(control(TRACE_OP_SET_PROFILE, 100000, count + 1) == -E_NOT_FOUND,
          "no counter beyond the list drives the sampling");
    check(read_own(sums) == -E_NOT_FOUND, "without counters a thread has no counts");
    check(sys_system_read(SYSTEM_OWN_COUNTERS, 0, sums, 8) == -E_BAD_ARGUMENT,
          "half of the counts is not given");
}

static void check_missing(void)
{
    char reason[120] = "";
    int64_t length = sys_system_read(SYSTEM_COUNTERS_MISSING, 0, reason, sizeof reason - 1);
    if (count) {
        check(length == -E_NOT_FOUND, "a CPU with counters has no reason for none");
        return;
    }
    check(length > 0 && strstr(reason, "CPUID"), "a CPU without counters says why: %s", reason);
}

static void burn(void)
{
    for (unsigned i = 0; i < LOOP; i++)
        __asm__ volatile("" : "+r"(i)); /* or it would be unrolled */
}

static void check_bound(void)
{
    uint64_t before[COUNTER_SLOTS], after[COUNTER_SLOTS];
    check(bind(0x0101) == -E_BAD_ARGUMENT, "a counter has one slot");
    check(bind(1) == 0, "counter %s is bound", counters[0].name);
    read_counters();
    check(counters[0].slot == 1 && counters[1].slot == 0, "the list shows which one");
    check(read_own(before) == sizeof before, "a thread has counts");
    burn();
    check(read_own(after) == sizeof after && after[0] - before[0] >= LOOP &&
              after[0] - before[0] < 100 * LOOP,
          "which grow by what it executes: %lu", (unsigned long)(after[0] - before[0]));
    check(after[1] == 0 && after[2] == 0 && after[3] == 0, "slots that are not bound count nothing");
    check(bind(0x0102) == 0, "two counters are bound in another order");
    read_counters();
    check(counters[0].slot == 2 && counters[1].slot == 1, "and have changed their slots");
    check(bind(0) == 0 && read_own(before) == -E_NOT_FOUND, "no counter is bound any more");
}

static void check_sampling(void)
{
    check(control(TRACE_OP_SET_PROFILE, 100, 1) == -E_BAD_ARGUMENT, "too short a period is refused");
    check(control(TRACE_OP_SET_PROFILE, 100000, 1) == 0, "a counter drives the sampling");
    read_counters();
    check(counters[0].samples == 1 && counters[0].slot == 0, "the list shows which one; it needs no slot");
    check(control(TRACE_OP_SET_PROFILE, 0, 0) == 0, "sampling ends");
    read_counters();
    check(counters[0].samples == 0, "and the counter is free");
}

int main(void)
{
    read_counters();
    check_missing();
    check_refusals();
    if (count >= 2) {
        check_bound();
        check_sampling();
    }
    return finish_tests();
}
