/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/tarn/drain_test.c - leaving out what the drain of a trace causes, with known results, in both
 * byte orders and with two clocks. Prints TAP.
 */
#include <stdio.h>
#include <string.h>
#include <tests/unit/tarn/known_results.h>

/*
 * One CPU. traced (21) drains from 123000 to 141000. In its round, up to 130000, it makes a system call, and
 * calls net (22), which makes one, too, and is interrupted. Then it waits for packets. calc (11) runs
 * meanwhile.
 */
static const char one_drain[] =
    "100000 0 trace_context\n"
    "101000 0 sched_process_fork child_comm=calc child_tid=11 child_pid=1\n"
    "101000 0 sched_process_fork child_comm=traced child_tid=21 child_pid=3\n"
    "101000 0 sched_process_fork child_comm=net child_tid=22 child_pid=4\n"
    "110000 0 sched_switch next=11/1/calc\n112000 0 syscall_entry number=futex_wake tid=11\n"
    "113000 0 syscall_exit number=futex_wake tid=11\n"
    "120000 0 sched_switch prev_state=ready next=21/3/traced\n"
    "121000 0 syscall_entry number=thread_yield tid=21\n"
    "122000 0 syscall_exit number=thread_yield tid=21\n"
    "123000 0 trace_drain_begin tid=21\n"
    "124000 0 syscall_entry number=futex_wake tid=21\n"
    "124500 0 syscall_exit number=futex_wake tid=21\n"
    "125000 0 ipc_call call_id=7 label=4100 endpoint=1 server_tid=22 is_entry=1\n"
    "125100 0 sched_switch prev_state=blocked_reply next=22/4/net\n"
    "125200 0 ipc_receive call_id=7 label=4100 endpoint=1 client_tid=21\n"
    "125500 0 syscall_entry number=space_map tid=22\n"
    "126000 0 syscall_exit number=space_map tid=22\n"
    "126500 0 irq_handler_entry irq=7\n"
    "127000 0 irq_handler_exit irq=7 ret=1\n"
    "127100 0 irq_timer_entry due=127000\n"
    "127200 0 timer_expire tid=11\n"
    "127300 0 irq_timer_exit expired=1\n"
    "128000 0 ipc_reply call_id=7 client_tid=21 is_entry=1\n"
    "128100 0 sched_switch prev_state=blocked_ipc_receive next=21/3/traced\n"
    "128200 0 ipc_return call_id=7\n"
    "130000 0 trace_drain_end tid=21 packets=1 bytes=4096\n"
    "131000 0 syscall_entry number=notification_wait tid=21\n"
    "132000 0 sched_switch prev_state=blocked_notification next=11/1/calc\n"
    "140000 0 sched_switch prev_state=ready next=21/3/traced\n"
    "140500 0 syscall_exit number=notification_wait tid=21\n"
    "141000 0 trace_drain_end tid=21 is_last=1\n"
    "142000 0 syscall_entry number=futex_wake tid=21\n"
    "142500 0 syscall_exit number=futex_wake tid=21\n"
    "150000 0 user_text text=end\n";

#define WITHOUT OPTIONS("+without-drain", "")

static void expect_left_out(const char *kind, uint64_t drained, uint64_t waited, uint64_t events,
                            uint64_t activities, uint64_t calls)
{
    struct fail fail = {""};
    struct filter filter;
    struct analysis *analysis = ask(kind, WITHOUT, &filter, &fail);
    bool ok = analysis != NULL && analysis->drained[0] == drained && analysis->left_out.waited == waited &&
              analysis->left_out.events == events && analysis->left_out.activities == activities &&
              analysis->left_out.calls == calls;
    char text[400] = "";

    check(ok, "%s: what was left out is counted", kind);
    if (analysis != NULL)
        analysis_describe_left_out(analysis, text, sizeof(text));
    if (!ok)
        printf("# got %s%s\n", text, fail.text);
    if (analysis != NULL)
        analysis_free(analysis);
}

static void test_with_drain(void)
{
    EXPECT("stats", NO_OPTIONS, {"thread traced ran_ns", 19000}, {"thread net ran_ns", 3000},
           {"event syscall_entry events", 6}, {"event trace_drain_end events", 2});
    EXPECT("ipc", NO_OPTIONS, {"client traced calls", 1});
}

static void test_without_drain(void)
{
    expect_left_out("stats", 9300, 11000, 17, 6, 1);
    expect_left_out("syscalls", 9300, 11000, 17, 6, 1);
    EXPECT("stats", WITHOUT, {"thread traced ran_ns", 12000}, {"thread net ran_ns", 700},
           {"thread calc ran_ns", 18000}, {"event syscall_entry events", 3},
           {"event trace_drain_begin events", EXPECT_NO_ROW}, {"event ipc_receive events", EXPECT_NO_ROW},
           {"event irq_handler_entry events", 1}, {"event irq_handler_exit events", 1},
           {"event irq_timer_entry events", 1}, {"event irq_timer_exit events", 1},
           {"event timer_expire events", 1}, {"event sched_switch events", 2}, {"cpu cpu~0 switches", 4});
    EXPECT("threads", WITHOUT, {"thread traced running_ns", 12000}, {"thread traced waiting_ns", 19000},
           {"thread net running_ns", 700}, {"thread calc running_ns", 18000});
    EXPECT("syscalls", WITHOUT, {"call futex_wake calls", 2}, {"call thread_yield calls", 1},
           {"call notification_wait calls", EXPECT_NO_ROW}, {"call ipc_call calls", EXPECT_NO_ROW},
           {"call space_map calls", EXPECT_NO_ROW});
    EXPECT("irq", WITHOUT, {"irq irq~7 count", 1}, {"irq irq~7 total_ns", 500});
    EXPECT("ipc", WITHOUT, {"client traced calls", EXPECT_NO_ROW});
    EXPECT("breakdown", WITHOUT, {"thread traced syscalls_ns", 1500}, {"thread traced user_ns", 10500});
    EXPECT("sched", WITHOUT, {"cpu cpu~0 switches", 4}, {"thread net ran_ns", 700});
    if (tick_ns == 1)
        EXPECT("stats", OPTIONS("+without-drain", "", "+from", "0.000024", "+to", "0.000029"),
               {"thread traced ran_ns", EXPECT_NO_ROW}, {"event syscall_entry events", EXPECT_NO_ROW},
               {"thread net ran_ns", 700});
}

/*
 * The trace begins in a round of traced (21). It dies in its next one. Another, 31, drains when events are
 * lost: what it does then is not known to be the drain's, up to its next mark.
 */
static const char cut_drains[] = "100000 0 trace_context tid=21 pid=3 name=traced\n"
                                 "101000 0 syscall_entry number=futex_wake tid=21\n"
                                 "102000 0 syscall_exit number=futex_wake tid=21\n"
                                 "103000 0 trace_drain_end tid=21\n"
                                 "104000 0 trace_drain_begin tid=21\n"
                                 "105000 0 sched_switch prev_state=dead next=31/3/second\n"
                                 "106000 0 sched_process_exit tid=21 comm=traced pid=3\n"
                                 "110000 0 trace_drain_begin tid=31\n"
                                 "111000 0 syscall_entry number=futex_wake tid=31\n"
                                 "112000 0 !lost 20\n"
                                 "112000 0 trace_context tid=31 pid=3 name=second\n"
                                 "113000 0 syscall_entry number=thread_yield tid=31\n"
                                 "114000 0 syscall_exit number=thread_yield tid=31\n"
                                 "115000 0 trace_drain_begin tid=31\n"
                                 "116000 0 syscall_entry number=futex_wake tid=31\n"
                                 "117000 0 trace_drain_begin tid=31\n"
                                 "118000 0 trace_drain_end tid=31 is_last=1\n"
                                 "119000 0 user_text text=end\n";

static void test_cut(void)
{
    EXPECT("syscalls", WITHOUT, {"call futex_wake calls", 1}, {"call thread_yield calls", 1});
    EXPECT("stats", WITHOUT, {"thread traced ran_ns", 3000}, {"event syscall_entry events", 2},
           {"event user_text events", 1}, {"event trace_drain_begin events", EXPECT_NO_ROW});
    EXPECT("stats", WITHOUT, {"thread second ran_ns", 5000 + 3000 + 1000});
}

static void test_byte_order(const char *order)
{
    open_known(one_drain, order);
    test_with_drain();
    test_without_drain();
    trace_close(&known_trace);
    open_known(cut_drains, order);
    test_cut();
    trace_close(&known_trace);
}

int main(void)
{
    return test_both_orders(test_byte_order);
}
