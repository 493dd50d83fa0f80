/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace_counters.c - binding hardware counters: what is refused, and that a machine without counters says
 * so. tests/host/counters checks what is bound and counted.
 */
#include <string.h>
#include <tarn/error.h>

#include <tests/guest/trace_help.h>
#include <trace/counter.h>
#include <trace/print/words.h>

#define COUNTERS_MAX 16

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
    check(bind(0x0101) < 0 && control(TRACE_OP_SET_PROFILE, 100, 1) < 0,
          "a counter has one slot, and no short period");
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

int main(void)
{
    read_counters();
    check_missing();
    check_refusals();
    return finish_tests();
}
