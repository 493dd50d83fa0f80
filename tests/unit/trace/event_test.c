/* tests/unit/trace/event_test.c - tests merging, and events as lines. */
#include "ring_harness.h"
#include "trace/events.h" /* generated */
#include <trace/print/print.h>
#include <trace/user.h>

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
    test_merge();
    test_lines();
    return finish_tests();
}
