/* SPDX-License-Identifier: BSD-2-Clause */
/* tests/unit/trace/event_test.c - tests words for masks and modes, merging, and events as lines. */
#include "ring_harness.h"
#include "trace/events.h" /* generated */
#include <string.h>
#include <trace/print/print.h>
#include <trace/print/words.h>
#include <trace/user.h>

#define BIT(class_number) (1ull << (class_number))

static void test_masks(void)
{
    static const struct {
        const char *text;
        uint64_t before, after;
        const char *bad; /* the first invalid word */
    } cases[] = {
        {"all", 0, ~0ull, NULL},
        {"none", 5, 0, NULL},
        {"off", 5, 0, NULL},
        {"sched", 5, BIT(1), NULL},
        {"sched,ipc", ~0ull, BIT(1) | BIT(2), NULL},
        {"all,-sched", 0, ~BIT(1), NULL},
        {"basic", 5, ~(BIT(3) | BIT(7) | BIT(8) | BIT(13) | BIT(16) | BIT(20)),
         NULL}, /* `detail` in trace/schema */
        {"basic,frame,-sched", 0, ~(BIT(1) | BIT(3) | BIT(7) | BIT(13) | BIT(16) | BIT(20)), NULL},
        {"+ipc", BIT(1), BIT(1) | BIT(2), NULL},
        {"-ipc", BIT(1) | BIT(2), BIT(1), NULL},
        {"-ipc,+sched", BIT(2), BIT(1), NULL},
        {"-all,ipc", BIT(9), BIT(2), NULL},
        {"0x6", 0, 6, NULL},
        {"0XfF", 0, 255, NULL},
        {"10", 0, 10, NULL},
        {"0xffffffffffffffff", 0, ~0ull, NULL},
        {"18446744073709551615", 0, ~0ull, NULL},
        {"18446744073709551616", 7, 7, "18446744073709551616"},
        {"0x10000000000000000", 7, 7, "0x10000000000000000"},
        {"0x", 7, 7, "0x"},
        {"12a", 7, 7, "12a"},
        {"", 7, 7, ""},
        {"sched,", 7, 7, ""},
        {"sched,bogus,ipc", 7, 7, "bogus,ipc"},
        {"+schedx", 7, 7, "+schedx"},
        {"sche", 7, 7, "sche"},
        {"--ipc", 7, 7, "--ipc"},
    };
    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *bad;
        uint64_t mask = cases[i].before;
        bool ok = trace_parse_mask(cases[i].text, trace_find_system_class, &mask, &bad);
        check(ok == !cases[i].bad && mask == cases[i].after && (ok || !strcmp(bad, cases[i].bad)),
              "mask '%s'%s", cases[i].text, ok ? "" : " refused");
    }
}

static void test_switches(void)
{
    static const struct {
        const char *names;
        uint32_t count; /* 0: refused */
        unsigned class_number;
        uint64_t off; /* in that class */
    } cases[] = {
        {"sched.wakeup", 1, 1, BIT(2)},
        {"sched_wakeup", 1, 1, BIT(2)},          /* its name in a trace */
        {"sched.*queue", 2, 1, BIT(3) | BIT(4)}, /* enqueue, dequeue */
        {"*.wakeup", 1, 1, BIT(2)},
        {"kmem_mm_page_alloc", 1, 8, BIT(1)}, /* frame.alloc */
        {"frame.mm_page_alloc", 0, 0, 0},
        {"ipc", 8, 2, ~0ull}, /* all, also undeclared ones */
        {"ipc.*", 8, 2, ~0ull},
        {"ipc.c*", 2, 2, BIT(1) | BIT(8)}, /* call, caps */
        {"ipc.call,ipc.return", 2, 2, BIT(1) | BIT(4)},
        {"ipc.call,ipc.bogus", 0, 0, 0},
        {"ipc.cal", 0, 0, 0},
        {"", 0, 0, 0},
        {"ipc.call,", 0, 0, 0},
        {".call", 0, 0, 0},
        {"ip", 0, 0, 0},
    };
    uint64_t switches[TRACE_CLASS_COUNT];
    const char *bad;
    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint64_t changed = 0, wanted = cases[i].count ? cases[i].off : 0;
        memset(switches, 0xff, sizeof(switches));
        const uint32_t count = trace_switch_events(cases[i].names, trace_event_find, false, switches, &bad);
        for (unsigned class_number = 0; class_number < TRACE_CLASS_COUNT; class_number++)
            changed += ~switches[class_number] != 0;
        check(count == cases[i].count && ~switches[cases[i].class_number] == wanted &&
                  changed == (cases[i].count != 0),
              "events '%s'%s", cases[i].names, cases[i].count ? "" : " refused");
    }
    memset(switches, 0, sizeof(switches));
    uint64_t ns = 0;
    check(trace_parse_duration("10us", 4, &ns) && ns == 10000 && trace_parse_duration("3s", 2, &ns) &&
              ns == 3000000000 && trace_parse_duration("7ns", 3, &ns) && ns == 7 &&
              trace_parse_duration("2msx", 3, &ns) && ns == 2000000,
          "durations");
    check(!trace_parse_duration("10", 2, &ns) && !trace_parse_duration("us", 2, &ns) &&
              !trace_parse_duration("1min", 4, &ns) && !trace_parse_duration("20000000000s", 12, &ns),
          "no durations");
    check(trace_switch_events("*", trace_event_find, true, switches, &bad) > 60 && switches[1] == ~0ull &&
              switches[40] == 0,
          "events '*': of all classes that there are");
    check(!trace_switch_events("sched.switch,nothing,ipc", trace_event_find, true, switches, &bad) &&
              !strcmp(bad, "nothing,ipc"),
          "a name that no event has is pointed at");
}

static void test_numbers(void)
{
    static const struct {
        const char *text;
        bool ok;
        uint64_t number;
    } cases[] = {
        {"64k", true, 65536},
        {"2M", true, 2 << 20},
        {"0x10k", true, 16384},
        {"0", true, 0},
        {"17592186044415m", true, 17592186044415ull << 20},
        {"17592186044416m", false, 0},
        {"k", false, 0},
        {"", false, 0},
        {"-1", false, 0},
        {"1\x10", false, 0},
        {"4kk", false, 0},
    };
    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint64_t number;
        bool ok = trace_parse_number(cases[i].text, strlen(cases[i].text), &number);
        check(ok == cases[i].ok && (!ok || number == cases[i].number), "number '%s'%s", cases[i].text,
              ok ? "" : " refused");
    }
}

static void test_modes(void)
{
    uint32_t mode = 7;
    check(trace_parse_mode("stream", &mode) && mode == TRACE_MODE_STREAM &&
              !strcmp(trace_mode_name(mode), "stream"),
          "mode stream");
    check(!trace_parse_mode("streams", &mode) && !trace_parse_mode("", &mode) && mode == TRACE_MODE_STREAM,
          "no such mode");
    check(!strcmp(trace_mode_name(3), "?"), "mode 3 has no name");
}

/* ---- merge ---------------------------------------------------------------------------------------- */

static uint64_t next[TEST_CPUS];
static uint64_t copies[TEST_CPUS][TRACE_BUFFER_BYTES_MIN / 8];

static bool next_packet(void *context, uint32_t cpu, struct trace_walk *walk)
{
    struct trace_reader reader = trace_reader_open(&test_info, ring_of_cpu(cpu), cpu, 0);
    const struct trace_packet *packet = (const struct trace_packet *)copies[cpu];
    if (trace_packet_copy(&reader, next[cpu], copies[cpu]) != TRACE_PACKET_WHOLE)
        return false;
    next[cpu]++;
    trace_walk_begin(walk, packet, packet->content_size / 64, packet->timestamp_end);
    return true;
}

static void test_merge(void)
{
    static struct trace_merge merge;
    struct trace_moment moment;
    uint64_t number = 0, last_time = 0;
    bool in_order = true;
    setup_rings(TRACE_BUFFER_BYTES_MIN, 16, TRACE_MODE_FLIGHT);
    for (uint64_t i = 0; i < 5000; i++) { /* runs of different lengths on both CPUs: several packets */
        test_ring = ring_of_cpu(i % 7 < 3);
        trace_user_stopwatch_start(i);
    }
    for (uint32_t cpu = 0; cpu < TEST_CPUS; cpu++) {
        test_ring = ring_of_cpu(cpu);
        trace_ring_flush(test_ring);
    }
    for (trace_merge_begin(&merge, TEST_CPUS, next_packet, NULL); trace_merge_next(&merge, &moment);) {
        in_order = in_order && moment.time >= last_time && moment.words >= moment.event->length;
        last_time = moment.time;
        if (moment.event->id != TRACE_ID(TRACE_CLASS_USER, 3))
            continue;
        in_order =
            in_order && *(const uint64_t *)(moment.event + 1) == number && moment.cpu == (number % 7 < 3);
        number++;
    }
    check(in_order && number == 5000, "two processors merged: every event once, in order");
    check(next[0] > 2 && next[1] > 2, "through several packets of each");
}

static void test_lines(void)
{
    struct {
        struct trace_header header;
        uint64_t id;
    } event = {{.id = TRACE_ID(TRACE_CLASS_USER, 3), .length = 2}, 42};
    struct trace_moment moment = {.event = &event.header, .words = 2, .time = 12000345678ull, .cpu = 3};
    char line[80];
    uint32_t length = trace_print_moment(line, sizeof(line), &moment, 1000000000, NULL);
    check(!strcmp(line, "    12.000345 cpu 3 user_stopwatch_start: stopwatch 42") && length == strlen(line),
          "a line with seconds (%s)", line);
    trace_print_moment(line, sizeof(line), &moment, 0, NULL);
    check(!strcmp(line, "12000345678 cpu 3 user_stopwatch_start: stopwatch 42"), "without a rate: ticks");
    check(trace_print_moment(line, 20, &moment, 1000000000, NULL) == 19 && strlen(line) == 19,
          "cut to its size");
    event.header.length = 1;
    trace_print_moment(line, sizeof(line), &moment, 0, NULL);
    check(strstr(line, "(too short)") != NULL, "a short event is marked");
    event.header.id = TRACE_ID(50, 9);
    trace_print_moment(line, sizeof(line), &moment, 0, NULL);
    check(!strcmp(line, "12000345678 cpu 3 event 50/9"), "an unknown event is printed with its numbers");
}

int main(void)
{
    test_masks();
    test_switches();
    test_numbers();
    test_modes();
    test_merge();
    test_lines();
    return finish_tests();
}
