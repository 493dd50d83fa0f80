/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/tarn/costs_test.c - subtracting what logging costs, with known results, in both byte orders and
 * with two clocks. Prints TAP.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tests/unit/tarn/known_results.h>
#include <trace/format/metadata.h>

/* calc (11) runs from 110000 to 130000. Its system call is shorter than what logging it costs. */
static const char one_thread[] =
    "100000 0 trace_context\n"
    "101000 0 sched_process_fork child_comm=calc child_tid=11 child_pid=1\n"
    "101000 0 sched_process_fork child_comm=server child_tid=12 child_pid=2\n"
    "110000 0 sched_switch next=11/1/calc\n112000 0 syscall_entry number=null tid=11\n"
    "112005 0 syscall_exit number=null tid=11\n"
    "120000 0 user_stopwatch_start id=1\n"
    "121000 0 user_values\n"
    "125000 0 user_stopwatch_stop id=1\n"
    "130000 0 sched_switch prev_state=ready next=12/2/server\n"
    "140000 0 user_text text=end\n";

/* The second comment counts, up to its line that is none. */
static const char costs[] =
    TRACE_COSTS_BEGIN " * sched_switch 1 1 - -\n * user_text 9000 9000 - -\n */\n" /* */
    TRACE_COSTS_BEGIN " * sched_switch 50000 50000 - -\n * syscall_entry 20000 20500 - -\n"
                      " * syscall_exit 10000 10000 7000 8000\n"
                      " * user_stopwatch_start 17000 17000 - -\n"
                      " * no_such_event 99 99 - -\n"
                      " * sched_enqueue 99999999999 99999999999 - -\n"
                      " * user_values 21000 21000 - -\n"
                      " * user_stopwatch_stop 18000 18000 - -\n"
                      " this is no line\n"
                      " * sched_process_fork 1000 1000 - -\n */\n";

static void open_with(const char *text, const char *order, const char *more)
{
    char path[300];
    struct fail fail = {""};
    FILE *metadata;

    open_known(text, order);
    trace_close(&known_trace);
    snprintf(path, sizeof(path), "%s/metadata", known_directory);
    metadata = fopen(path, "a");
    if (metadata == NULL || fputs(more, metadata) < 0 || fclose(metadata) != 0)
        abort();
    if (!trace_open(&known_trace, known_directory, &fail)) {
        printf("Bail out! %s\n", fail.text);
        exit(1);
    }
}

#define SUBTRACT OPTIONS("+subtract-cost", "")

static void test_figures(void)
{
    const struct event_type *type = schema_find_event(&known_trace.schema, "syscall_exit");

    check(known_trace.schema.cost_count == 6, "the last comment counts, up to its end");
    check(type->cost_ticks[1] == 10000 && type->cost_instructions[0] == 7000 &&
              type->cost_instructions[1] == 8000,
          "ticks and instructions are read");
    type = schema_find_event(&known_trace.schema, "user_text");
    check(type->cost_ticks[1] == 0, "an earlier comment does not count");
}

static void test_subtraction(void)
{
    struct fail fail = {""};
    struct filter filter;
    struct analysis *analysis = ask("syscalls", SUBTRACT, &filter, &fail);

    check(analysis != NULL && analysis->subtracts && analysis->subtracted.short_spans == 1 &&
              analysis->subtracted.ticks == 136 + 50 && analysis->subtracted.events == 7,
          "what was subtracted is counted, and the activity that was too short");
    analysis_free(analysis);
    EXPECT("threads", NO_OPTIONS, {"thread calc running_ns", 20000}, {"thread server running_ns", 10000});
    EXPECT("threads", SUBTRACT, {"thread calc running_ns", 20000 - 136},
           {"thread server running_ns", 10000 - 50}, {"thread calc waiting_ns", 9000});
    EXPECT("stats", SUBTRACT, {"thread calc ran_ns", 20000 - 136});
    EXPECT("syscalls", SUBTRACT, {"call null total_ns", 0}, {"call null calls", 1});
    EXPECT("intervals", SUBTRACT, {"interval id~1 total_ns", 5000 - 17 - 21});
    EXPECT("intervals", NO_OPTIONS, {"interval id~1 total_ns", 5000});
    EXPECT("sched", SUBTRACT, {"thread calc ran_ns", 20000 - 136});
}

static void test_refusal(const char *order)
{
    struct fail fail = {""};
    struct filter filter;
    struct analysis *analysis;

    open_with(one_thread, order, TRACE_COSTS_BEGIN " * sched_switch x y - -\n */\n");
    analysis = ask("threads", SUBTRACT, &filter, &fail);
    check(analysis == NULL && strstr(fail.text, "trace bench") != NULL, "without figures it is refused");
    trace_close(&known_trace);
}

static void test_byte_order(const char *order)
{
    open_with(one_thread, order, costs);
    test_figures();
    test_subtraction();
    trace_close(&known_trace);
    test_refusal(order);
}

int main(void)
{
    return test_both_orders(test_byte_order);
}
