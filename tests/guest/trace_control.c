/*
 * trace_control.c - settings take effect on all CPUs: modes, buffers, the low-water mark; what is refused.
 * Masks and switches: trace_sites.c; what the modes keep and lose: tests/host/losses; sizes that change under
 * load: tests/host/geometry; hardware counters that are bound: tests/host/counters.
 */
#include <tests/guest/trace_help.h>
#include <trace/counter.h>
#include <trace/event/sizes.h>
#include <trace/format/store.h>
#include <trace/print/words.h>

static const struct trace_info *info;
static uint64_t next_number = 1; /* each number is used once */

/* Logs `count` new numbers on this CPU. Returns the first one. */
static uint64_t log_run(uint32_t cpu, uint64_t count)
{
    uint64_t first = next_number;
    next_number += count;
    move_to(cpu);
    log_numbers(first, next_number);
    return first;
}

/* Logs one number on each CPU. Returns how many are in the ring of the right CPU. */
static uint32_t count_heard_cpus(void)
{
    uint32_t heard = 0;
    for (uint32_t cpu = 0; cpu < info->cpu_count; cpu++) {
        uint64_t number = log_run(cpu, 1);
        struct numbers numbers = find_numbers(number, number + 1);
        heard += numbers.found == 1 && numbers.on_cpu[cpu] == 1;
    }
    return heard;
}

#define MANY 10000u /* events of two words: more than a 64 KiB ring holds */

static void test_consume(void)
{
    control(TRACE_OP_SET_MODE, TRACE_MODE_STREAM, 0);
    control(TRACE_OP_CLEAR, 0, 0);
    uint64_t first = log_run(0, MANY);
    const struct numbers numbers = find_numbers(first, first + MANY);
    check(numbers.found < MANY && numbers.lowest == first, "stream without a consumer stops when it is full");
    struct trace_reader ring = ring_of(0);
    uint64_t head = trace_reader_head(&ring);
    check(sys_trace_consume(SLOT_TRACE, 0, head + 1) == -E_BAD_ARGUMENT,
          "packets beyond the head cannot be consumed");
    check(sys_trace_consume(SLOT_TRACE, 0, head) == 0, "packets are consumed");
    check(sys_trace_consume(SLOT_TRACE, 0, head - 1) == -E_BAD_ARGUMENT, "but once");
    first = log_run(0, 500);
    check(find_numbers(first, first + 500).found == 500, "then there is space again");
    control(TRACE_OP_SET_MODE, TRACE_MODE_FLIGHT, 0);
}

static void test_bad_geometry(void)
{
    static const uint64_t bad[][2] = {{64 << 10, 3},          {64 << 10, 1},  {64 << 10, 0}, {8 << 10, 4},
                                      {8 << 20, 4},           {65 << 10, 4},  {0, 4},        {4 << 20, 256},
                                      {16 << 10, 1ull << 60}, {1ull << 63, 2}};
    uint64_t ring_mask = info->ring_mask;
    bool refused = true;
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
        refused = refused && control(TRACE_OP_SET_GEOMETRY, bad[i][0], bad[i][1]) == -E_BAD_ARGUMENT;
    check(refused, "invalid geometries are refused");
    check(control(TRACE_OP_SET_GEOMETRY, 4 << 20, 128) == -E_NO_MEMORY,
          "and those that need too much memory");
    check(info->ring_mask == ring_mask && count_heard_cpus() == info->cpu_count, "and change nothing");
}

#define STEP    100u        /* events: far fewer than a buffer holds */
#define STEP_NS 30000000ull /* more than a time slice */
#define BITS    4u

static bool is_signalled(cap_t notification, uint64_t ns)
{
    return sys_notification_wait(notification, deadline_after(ns)) == BITS;
}

/* Takes wake-ups of what was before. */
static void wait_until_quiet(cap_t notification)
{
    for (int i = 0; i < 5 && is_signalled(notification, STEP_NS); i++)
        ;
}

/* How many packets of an empty ring were begun and closed when the drain was woken, and one step before. A
 * wake-up may come a step late. */
struct wake_up {
    int64_t before, at; /* NEVER: the ring filled up */
};
#define NEVER INT64_MAX

static struct wake_up wake_up_at(cap_t notification, uint64_t percent)
{
    control(TRACE_OP_SET_LOW_WATER, percent, 0);
    control(TRACE_OP_CLEAR, 0, 0);
    wait_until_quiet(notification); /* both tell the drain, too */
    const struct trace_reader ring = ring_of(0);
    const uint64_t first = info->consumed[0], discarded = discarded_on(0);
    int64_t before = -1, last = -1;
    while (discarded_on(0) == discarded) {
        log_run(0, STEP);
        const int64_t now = (int64_t)(trace_reader_head(&ring) - first);
        if (is_signalled(notification, STEP_NS)) {
            return (struct wake_up){before, (int64_t)(trace_reader_head(&ring) - first)};
        }
        before = last;
        last = now;
    }
    return (struct wake_up){NEVER, NEVER};
}

/* Whether the drain is woken when packet `packet` is begun. */
static bool is_woken_at(cap_t notification, uint64_t percent, int64_t packet)
{
    const struct wake_up found = wake_up_at(notification, percent);
    return found.before < packet && packet <= found.at;
}

static bool is_never_woken(cap_t notification, uint64_t percent)
{
    return wake_up_at(notification, percent).at == NEVER;
}

static void test_low_water(void)
{
    const cap_t first = (cap_t)sys_notification_create(), second = (cap_t)sys_notification_create();
    check(info->low_water == TRACE_LOW_WATER_DEFAULT, "the low-water mark has a default");
    check(control(TRACE_OP_SET_LOW_WATER, 0, 0) == 0 && info->low_water == 0 &&
              control(TRACE_OP_SET_LOW_WATER, 100, 0) == 0 && info->low_water == 100,
          "it is set");
    check(all_return(-E_BAD_ARGUMENT, control(TRACE_OP_SET_LOW_WATER, 101, 0),
                     control(TRACE_OP_SET_LOW_WATER, 1, 1), control(TRACE_OP_SET_LOW_WATER, ~0ull, 0)) &&
              info->low_water == 100,
          "what is no percentage is refused");
    control(TRACE_OP_SET_LOW_WATER, 0, 0);
    control(TRACE_OP_SET_MODE, TRACE_MODE_STREAM, 0);
    check(control(TRACE_OP_SET_DRAIN, SLOT_SPACE, BITS) == -E_BAD_TYPE &&
              control(TRACE_OP_SET_DRAIN, first, ~0ull) == -E_BAD_ARGUMENT &&
              control(TRACE_OP_SET_DRAIN, 1ull << 40, BITS) == -E_BAD_CAP,
          "the drain registers a notification, nothing else");
    check(control(TRACE_OP_SET_DRAIN, first, BITS) == 0 && is_signalled(first, 0),
          "it is told at once to look at the rings");
    /* four buffers, of which the open one is not free */
    check(is_woken_at(first, 50, 1), "mark 50: when 2 of 4 buffers are free");
    check(is_woken_at(first, 49, 2), "mark 49: when one is");
    check(is_woken_at(first, 25, 2), "mark 25: the same");
    check(is_woken_at(first, 0, 3), "mark 0: when none is");
    control(TRACE_OP_CLEAR, 0, 0); /* a full ring goes on telling */
    wait_until_quiet(first);
    check(control(TRACE_OP_SET_DRAIN, second, BITS) == 0 && is_signalled(second, 0) &&
              is_woken_at(second, 0, 3) && !is_signalled(first, 0),
          "another drain takes its place");
    check(control(TRACE_OP_SET_DRAIN, first, 0) == 0 && is_woken_at(second, 0, 3),
          "the earlier one cannot end it");
    check(control(TRACE_OP_SET_DRAIN, second, 0) == 0 && is_never_woken(second, 0), "it can end itself");
    control(TRACE_OP_SET_DRAIN, first, BITS);
    control(TRACE_OP_SET_MODE, TRACE_MODE_ONCE, 0);
    check(is_never_woken(first, 100), "in another mode nothing is woken");
    control(TRACE_OP_SET_MODE, TRACE_MODE_STREAM, 0);
    /* last: each CPU goes on telling */
    check(wake_up_at(first, 100).before < 1, "mark 100: woken always");
    sys_cap_close(first);
    sys_cap_close(second);
    control(TRACE_OP_CLEAR, 0, 0);
    uint64_t number = log_run(0, MANY);
    check(find_numbers(number, number + MANY).lowest == number, "a drain that has gone is not missed");
    control(TRACE_OP_SET_LOW_WATER, TRACE_LOW_WATER_DEFAULT, 0);
    control(TRACE_OP_SET_MODE, TRACE_MODE_FLIGHT, 0);
    control(TRACE_OP_CLEAR, 0, 0);
}

static void test_authority(void)
{
    int64_t reader = sys_cap_copy(SLOT_SPACE, SLOT_TRACE, 0, RIGHT_READ, 0);
    uint64_t mask = info->mask;
    char text[16];
    check(reader > 0 && sys_trace_control((cap_t)reader, TRACE_OP_SET_MASK, 0, 0) == -E_BAD_RIGHT &&
              sys_trace_consume((cap_t)reader, 0, 0) == -E_BAD_RIGHT && info->mask == mask,
          "the right to read the trace does not permit control");
    check(sys_trace_metadata((cap_t)reader, TRACE_METADATA_TEXT, 0, text, sizeof text) ==
                  (int64_t)sizeof text &&
              !memcmp(text, "/* CTF 1.8 */", 13),
          "but permits reading the metadata");
    check(sys_trace_control(SLOT_SPACE, TRACE_OP_SET_MASK, 0, 0) == -E_BAD_TYPE, "a space is no trace");
    check(all_return(-E_BAD_ARGUMENT, control(99, 0, 0), control(TRACE_OP_SET_MODE, 3, 0),
                     control(TRACE_OP_SET_SWITCHES, TRACE_CLASS_COUNT, 0)),
          "nor are there other operations, modes or classes");
    sys_cap_close((cap_t)reader);
}

#define BIND(packed) control(TRACE_OP_BIND_COUNTERS, (packed), 0)

/* A machine without counters says so. */
static void test_counters(void)
{
    static struct system_counter counters[16];
    uint64_t sums[COUNTER_SLOTS];
    char reason[120] = "";
    const int64_t bytes = sys_system_read(SYSTEM_COUNTERS, 0, counters, sizeof counters),
                  length = sys_system_read(SYSTEM_COUNTERS_MISSING, 0, reason, sizeof reason - 1);
    const uint64_t count = bytes > 0 ? (uint64_t)bytes / sizeof *counters : 0;
    check(count ? length == -E_NOT_FOUND : length > 0 && strstr(reason, "CPUID"),
          "there are counters, or a reason for none: %s", reason);
    check(all_return(-E_NOT_FOUND, BIND(count + 1), BIND(0xff),
                     sys_system_read(SYSTEM_OWN_COUNTERS, 0, sums, sizeof sums)),
          "no counter has a number beyond the list, and no thread counts");
    check(all_return(-E_BAD_ARGUMENT, BIND(1ull << 8), BIND(1ull << 8 * COUNTER_SLOTS | 0x01010101),
                     control(TRACE_OP_BIND_COUNTERS, 0, 1), sys_system_read(SYSTEM_OWN_COUNTERS, 0, sums, 8)),
          "slots have no gaps, there are no more, and half of the counts is not given");
    check(BIND(0x0101) < 0, "a counter has one slot");
}

int main(void)
{
    info = arch_trace_info();
    test_authority();
    control(TRACE_OP_SET_MASK, CLASS_USER_BIT, 0);
    check(trace_set_sizes(SLOT_TRACE, 16 << 10, 4) == 0, "rings that are quickly filled and overwritten");
    test_consume();
    test_low_water();
    test_bad_geometry();
    test_counters();
    return finish_tests();
}
