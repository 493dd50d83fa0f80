/* SPDX-License-Identifier: BSD-2-Clause */
/* trace_counters.c - `trace counters`. Interface: trace_counters.h. */
#include <stdio.h>
#include <string.h>
#include <tarn/runtime.h>
#include <tarn/trace_control.h>

#include <trace/print/words.h>
#include <user/bin/trace_counters.h>
#include <user/bin/util.h>

#define COUNTERS_MAX 16

struct counters {
    struct system_counter counter[COUNTERS_MAX];
    uint32_t count;
};

/* False: there are none, and the reason is printed. */
static bool read_counters(struct counters *counters)
{
    char reason[120] = "";
    int64_t bytes = sys_system_read(SYSTEM_COUNTERS, 0, counters->counter, sizeof counters->counter);
    counters->count = bytes > 0 ? (uint32_t)((uint64_t)bytes / sizeof *counters->counter) : 0;
    if (counters->count)
        return true;
    sys_system_read(SYSTEM_COUNTERS_MISSING, 0, reason, sizeof reason - 1);
    refuse("this CPU has no hardware counters that the system can use: %s", reason);
    return false;
}

int list_counters(void)
{
    struct counters counters;
    if (!read_counters(&counters))
        return 1;
    puts("counter                 bits  slot");
    for (uint32_t i = 0; i < counters.count; i++) {
        const struct system_counter *counter = &counters.counter[i];
        char slot[16] = "-";
        if (counter->slot)
            snprintf(slot, sizeof slot, "%u", (unsigned)(counter->slot - 1));
        printf("%-22s %5u %5s%s\n", counter->name, (unsigned)counter->bits, slot,
               counter->samples ? "  drives the sampling" : "");
    }
    return 0;
}

static uint32_t find_counter(const void *context, const char *name, uint64_t length)
{
    const struct counters *counters = context;
    for (uint32_t i = 0; i < counters->count; i++)
        if (strlen(counters->counter[i].name) == length && !memcmp(counters->counter[i].name, name, length))
            return counters->counter[i].number + 1;
    return 0;
}

static void refuse_name(const struct counters *counters, const char *bad)
{
    char known[400] = "";
    for (uint32_t i = 0; i < counters->count; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), " %s", counters->counter[i].name);
    refuse("'%s': name up to %u different counters of%s", bad, TRACE_COUNTER_SLOTS, known);
}

bool parse_counters(const char *names, uint64_t *packed)
{
    struct counters counters;
    const char *bad;
    if (!read_counters(&counters))
        return false;
    if (trace_parse_counters(names, find_counter, &counters, packed, &bad))
        return true;
    refuse_name(&counters, bad);
    return false;
}

bool parse_counter(const char *name, uint64_t *counter)
{
    struct counters counters;
    if (!read_counters(&counters))
        return false;
    *counter = find_counter(&counters, name, strlen(name));
    if (!*counter)
        refuse_name(&counters, name);
    return *counter != 0;
}
