/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/tarn/analyses_test.c - tarn's analyses of traces whose results are known, in both byte orders
 * and with two clocks. Prints TAP.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tests/unit/tarn/known_results.h>

/*
 * One processor runs the thread calc (11, of process 1), which the thread other (12, of process 2) shares it
 * with; another only takes an interrupt. Both boot first, and sleep where events say so. In units of 100
 * ticks:
 *
 *     calc    created 1010, woken 1100, runs 1200 to 1500 (system call 1300 to 1360, interrupt 1400 to 1450)
 *             until its time slice is used up, runs 1700 to 2000, sleeps
 *     other   created 1020, woken by calc 1340, runs 1500 to 1700 (fault 1550 to 1580), waits for a futex
 * until its process ends at 1900
 */
static const char two_threads[] =
    "100000 0 trace_context\n"
    "100000 0 lttng_statedump_interrupt irq=7 action=disk\n"
    "100000 1 trace_context\n"
    "100500 0 process_create pid=1\n"
    "100600 0 process_rename pid=1 name=first\n"
    "101000 0 sched_process_fork child_comm=calc child_tid=11 child_pid=1\n"
    "101500 0 process_create pid=2 parent_pid=1\n"
    "101600 0 process_exec pid=2 filename=/bin/second\n"
    "102000 0 sched_process_fork child_comm=other child_tid=12 child_pid=2\n"
    "103000 1 power_cpu_idle state=1 cpu_id=1\n"
    "105000 0 power_cpu_idle state=1\n"
    "109000 0 power_cpu_idle state=4294967295\n"
    "110000 0 sched_wakeup comm=calc tid=11\n"
    "120000 0 sched_switch next_tid=11 next_pid=1 next_comm=calc next_prio=20\n"
    "121000 0 user_stopwatch_start id=1\n"
    "129000 0 user_stopwatch_stop id=1\n"
    "130000 0 syscall_entry number=futex_wake tid=11 arg0=0x10 arg1=1\n"
    "134000 0 sched_wakeup comm=other tid=12\n"
    "136000 0 syscall_exit number=futex_wake tid=11 ret=-5\n"
    "140000 0 irq_handler_entry irq=7\n"
    "145000 0 irq_handler_exit irq=7 ret=1\n"
    "150000 0 sched_quantum_end tid=11\n"
    "150000 0 sched_switch prev_comm=calc prev_tid=11 prev_pid=1 prev_state=ready next_tid=12 next_pid=2 "
    "next_comm=other\n"
    "155000 0 fault_entry address=0x5008 ip=0x400010 tid=12\n"
    "158000 0 fault_exit address=0x5008 duration=3000 kind=zero tid=12\n"
    "160000 0 irq_ipi_send target_cpu=1 kind=reschedule\n"
    "161000 0 irq_ipi_send target_cpu=1 kind=reschedule\n"
    "163000 1 power_cpu_idle state=4294967295 cpu_id=1\n"
    "164000 1 irq_ipi_entry kind=reschedule\n"
    "165000 1 irq_ipi_exit kind=reschedule\n"
    "166000 1 power_cpu_idle state=1 cpu_id=1\n"
    "170000 0 sched_switch prev_comm=other prev_tid=12 prev_pid=2 prev_state=blocked_futex next_tid=11 "
    "next_pid=1 next_comm=calc next_prio=20\n"
    "171000 0 user_stopwatch_start id=1\n"
    "172000 0 user_stopwatch_start id=1\n"
    "176000 0 user_stopwatch_stop id=1\n"
    "177000 0 user_stopwatch_stop id=1\n"
    "178000 0 user_stopwatch_start id=2\n"
    "190000 0 process_exit pid=2 status=3\n"
    "200000 0 sched_switch prev_comm=calc prev_tid=11 prev_pid=1 prev_state=sleeping next_tid=0\n"
    "202000 0 power_cpu_idle state=1\n"
    "209000 0 power_cpu_idle state=4294967295\n"
    "210000 0 user_text text=end\n"
    "210000 1 user_text text=end\n";

static void test_stats(void)
{
    EXPECT("stats", NO_OPTIONS, {"cpu cpu~0 busy_percent", 100 * 99000. / 110000},
           {"cpu cpu~0 idle_percent", 100 * 11000. / 110000},
           {"cpu cpu~0 boot_percent", 100 * 5000. / 110000}, {"cpu cpu~0 switches", 4},
           {"event user_stopwatch_start events", 4}, {"class user number", 17}, {"class user events", 9},
           {"process first ran_ns", 60000}, {"process second ran_ns", 20000}, {"program second processes", 1},
           {"thread calc switches", 2}, {"thread calc ran_ns", 60000});
    EXPECT("stats", OPTIONS("+event", "user_*", "+tid", "11"), {"event user_stopwatch_stop events", 3},
           {"thread calc events", 7}, {"event user_text events", EXPECT_NO_ROW});
    if (tick_ns == 1)
        EXPECT("stats", OPTIONS("+from", "0.00002", "+to", "0.00003"),
               {"event user_stopwatch_start events", 1}, {"event user_stopwatch_stop events", 1},
               {"event syscall_entry events", EXPECT_NO_ROW}, {"thread calc ran_ns", 10000},
               {"thread calc switches", 1}, {"cpu cpu~0 switches", 1}, {"cpu cpu~0 busy_percent", 100});
    if (tick_ns == 1)
        EXPECT("stats", OPTIONS("+from", "0.000030", "+to", "0.000031"), {"event syscall_entry events", 1},
               {"event syscall_exit events", EXPECT_NO_ROW}, {"thread calc switches", 0},
               {"cpu cpu~0 switches", 0});
}

static void test_threads(void)
{
    EXPECT("threads", NO_OPTIONS, {"thread calc running_ns", 60000}, {"thread calc ready_ns", 30000},
           {"thread calc waiting_ns", 9000 + 10000}, {"thread calc switches", 2}, {"thread calc wakeups", 1},
           {"thread calc prio", 20}, {"thread calc begin_ns", 1000}, {"thread calc end_ns", -1},
           {"thread other running_ns", 20000}, {"thread other ready_ns", 16000},
           {"thread other waiting_ns", 32000 + 20000}, {"state running total_ns", 80000},
           {"state running stretches", 3}, {"wait calc sleep_ns", 10000}, {"wait calc suspended_ns", 9000},
           {"wait other futex_ns", 20000}, {"process first threads", 1}, {"process first running_ns", 60000});
    EXPECT("threads", OPTIONS("+tid", "12"), {"thread other running_ns", 20000},
           {"thread calc running_ns", EXPECT_NO_ROW}, {"state running total_ns", 20000});
    expect_text("threads", NO_OPTIONS, "thread calc state", "sleeping");
    if (tick_ns == 1)
        EXPECT("threads", OPTIONS("+from", "0.00004", "+to", "0.00006"), {"thread calc running_ns", 10000},
               {"thread calc ready_ns", 10000}, {"thread other running_ns", 10000},
               {"thread other ready_ns", 10000});
}

static void test_processes(void)
{
    EXPECT("processes", NO_OPTIONS, {"tree first/1 begin_ns", 500}, {"tree second/2 parent_pid", 1},
           {"tree second/2 begin_ns", 1500}, {"tree second/2 end_ns", 90000},
           {"tree second/2 life_ns", 88500}, {"tree second/2 ran_ns", 20000}, {"tree second/2 status", 3},
           {"tree second/2 threads", 1}, {"tree first/1 status", -1}, {"program second failed", 1},
           {"program second processes", 1});
    expect_text("processes", NO_OPTIONS, "tree second/2 path", "/bin/second");
    EXPECT("processes", OPTIONS("+process", "sec*"), {"tree second/2 life_ns", 88500},
           {"tree first/1 life_ns", EXPECT_NO_ROW});
}

static void test_tree(void)
{
    struct fail fail = {""};
    struct filter filter;
    struct analysis *analysis = ask("processes", NO_OPTIONS, &filter, &fail);
    const struct table *tree = find_table(analysis, "tree");
    bool ok = tree->count >= 2;

    for (size_t i = 1; i < tree->count; i++)
        if (tree->rows[i]->cells[0].count == 2)
            ok &= tree->rows[i - 1]->cells[0].count == 1 &&
                  tree->rows[i]->indent == tree->rows[i - 1]->indent + 1;
    check(ok, "processes: a child is listed below its parent");
    analysis_free(analysis);
}

static void test_activities(void)
{
    EXPECT("syscalls", NO_OPTIONS, {"call futex_wake calls", 1}, {"call futex_wake errors", 1},
           {"call futex_wake total_ns", 6000}, {"call futex_wake own_ns", 6000},
           {"call futex_wake waiting_ns", 0}, {"call futex_wake max_ns", 6000}, {"process first calls", 1},
           {"thread calc calls", 1}, {"use first total_ns", 6000}, {"error futex_wake result", -5},
           {"error futex_wake count", 1}, {"longest futex_wake at_ns", 30000},
           {"longest futex_wake arg0", 16});
    expect_text("syscalls", NO_OPTIONS, "error futex_wake meaning",
                "an argument is out of range or of no meaning");
    EXPECT("syscalls", OPTIONS("call", "ipc_*"), {"call futex_wake calls", EXPECT_NO_ROW});
    EXPECT("syscalls", OPTIONS("+tid", "12"), {"call futex_wake calls", EXPECT_NO_ROW});
    EXPECT("faults", NO_OPTIONS, {"kind zero faults", 1}, {"kind zero total_ns", 3000},
           {"process second faults", 1}, {"page second address", 0x5000}, {"page second total_ns", 3000},
           {"instruction second address", 0x400010}, {"longest zero address", 0x5008});
    EXPECT("irq", NO_OPTIONS, {"irq irq~7~disk count", 1}, {"irq irq~7~disk total_ns", 5000},
           {"irq ipi~reschedule own_ns", 1000}, {"ipi reschedule sent", 2}, {"ipi reschedule taken", 1},
           {"ipi reschedule joined", 1}, {"ipi reschedule max_ns", 4000}, {"cpu cpu~0 total_ns", 5000},
           {"cpu cpu~1 total_ns", 1000}, {"thread calc count", 1}, {"route reschedule to_cpu", 1},
           {"longest irq~7~disk cpu", 0});
}

static void test_sched(void)
{
    EXPECT("sched", NO_OPTIONS, {"cpu cpu~0 busy_ns", 99000}, {"cpu cpu~0 idle_ns", 11000},
           {"cpu cpu~0 boot_ns", 5000}, {"cpu cpu~1 busy_ns", 6000}, {"cpu cpu~1 idle_ns", 104000},
           {"cpu cpu~1 boot_ns", 3000}, {"cpu cpu~0 waits", 3}, {"cpu cpu~0 total_ns", 46000},
           {"thread calc waits", 2}, {"thread calc waited_ns", 30000}, {"thread calc max_ns", 20000},
           {"thread calc run_mean_ns", 30000}, {"thread calc preempted", 1}, {"thread calc migrations", 0},
           {"thread other waited_ns", 16000}, {"thread other preempted", 0}, {"process first waits", 2},
           {"delay calc/11 total_ns", 16000}, {"delay calc/11 tid", 12}, {"delay other/12 total_ns", 20000},
           {"delay (idle) total_ns", 10000}, {"delay (idle) tid", 11}, {"waker calc/11 total_ns", 16000},
           {"waker (timer~or~interrupt) total_ns", 10000}, {"end time~slice~used~up stretches", 1},
           {"end time~slice~used~up total_ns", 30000}, {"end blocked_futex stretches", 1},
           {"longest calc duration_ns", 20000}, {"longest calc by_ran_ns", 20000});
    expect_text("sched", NO_OPTIONS, "longest calc by", "other");
}

static void test_noise(void)
{
    EXPECT("noise", OPTIONS("+tid", "11", "quantum", tick_ns == 1 ? "10" : "20"),
           {"thread calc work_ns", 55000}, {"thread calc taken_ns", 35000}, {"thread calc irq_ns", 5000},
           {"thread calc preempted_ns", 20000}, {"thread calc dispatch_ns", 10000},
           {"cause irq~7~disk total_ns", 5000}, {"cause another~thread~ran total_ns", 20000},
           {"cause woken,~not~yet~running max_ns", 10000}, {"quantum as~measured quanta", 5},
           {"quantum as~measured total_ns", 85000}, {"quantum as~measured max_ns", 35000},
           {"quantum as~measured slowdown_percent", 70}, {"quantum without~interrupts total_ns", 80000},
           {"quantum without~other~threads total_ns", 65000},
           {"quantum without~delay~after~a~wait total_ns", 75000},
           {"quantum without~faults total_ns", EXPECT_NO_ROW}, {"quantum the~work~alone total_ns", 50000},
           {"who other total_ns", 20000}, {"who (idle:~not~yet~awake) total_ns", 10000});
    EXPECT("noise", OPTIONS("+tid", "12"), {"thread other fault_ns", 3000},
           {"cause fault~zero total_ns", 3000}, {"thread other work_ns", 17000});
}

/* Nine slices as long as a quantum: five with nothing but work, one half, three without. */
static void test_slices(void)
{
    struct fail fail = {""};
    struct filter filter;
    struct analysis *analysis =
        ask("noise", OPTIONS("+tid", "11", "quantum", tick_ns == 1 ? "10" : "20"), &filter, &fail);
    const struct table *slices = find_table(analysis, "slice");
    uint64_t count = 0;

    for (size_t i = 0; i < slices->count; i++)
        count += slices->rows[i]->cells[2].count;
    check(count == 9 && slices->rows[0]->cells[2].count == 3 &&
              slices->rows[slices->count - 1]->cells[2].count == 5,
          "noise: the work is divided into slices of time");
    analysis_free(analysis);
}

static void test_intervals(void)
{
    EXPECT("intervals", NO_OPTIONS, {"interval id~1 count", 2}, {"interval id~1 total_ns", 12000},
           {"interval id~1 max_ns", 8000}, {"interval id~1 not_ended", 1}, {"interval id~1 not_begun", 1},
           {"interval id~2 count", 0}, {"interval id~2 not_ended", 1}, {"thread calc count", 2},
           {"longest id~1 at_ns", 21000}, {"longest id~1 until_ns", 29000}, {"open id~2 at_ns", 78000});
    EXPECT("intervals", OPTIONS("begin", "sched_wakeup", "end", "sched_switch", "match", "tid=next_tid"),
           {"interval sched_wakeup count", 2}, {"interval sched_wakeup total_ns", 26000},
           {"interval sched_wakeup not_begun", 2}, {"interval sched_wakeup not_ended", 0});
    EXPECT("intervals",
           OPTIONS("begin", "syscall_entry", "end", "syscall_exit", "match", "number", "group", "number"),
           {"interval futex_wake total_ns", 6000});
    EXPECT("intervals",
           OPTIONS("begin", "user_stopwatch_start", "end", "user_stopwatch_start", "same", "any"),
           {"interval user_stopwatch_start count", 3}, {"interval user_stopwatch_start max_ns", 50000},
           {"interval user_stopwatch_start not_ended", 1});
    EXPECT("intervals", OPTIONS("preset", "process"), {"interval process count", 1},
           {"interval process total_ns", 88500}, {"interval process not_ended", 1});
}

static void test_failures(void)
{
    const struct {
        const char *const *options;
        const char *says;
    } wrong[] = {
        {OPTIONS("begin", "no_such"), "an interval needs --begin and --end, or a --preset"},
        {OPTIONS("begin", "no_such", "end", "user_text"), "the trace's schema has no event 'no_such'"},
        {OPTIONS("begin", "user_mark", "end", "user_text", "match", "number"),
         "user_text has no field 'number'; it has text"},
        {OPTIONS("preset", "nonsense"), "--preset nonsense: not a preset; see tarn intervals --help"},
        {OPTIONS("same", "planet"), "--same planet: thread, process, cpu or any"},
    };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct fail fail = {""};
        struct filter filter;
        struct analysis *analysis = ask("intervals", wrong[i].options, &filter, &fail);

        check(analysis == NULL && strcmp(fail.text, wrong[i].says) == 0, "%s", wrong[i].says);
        if (analysis != NULL)
            analysis_free(analysis);
    }
}

/* Events are lost while one of two threads runs: nothing is guessed, and what is known adds up. */
static void test_losses(const char *order)
{
    static const char text[] = "1000 0 trace_context\n"
                               "2000 0 sched_switch next_tid=11 next_pid=1 next_comm=calc\n"
                               "3000 0 syscall_entry number=futex_wait tid=11\n"
                               "4000 0 !lost 100\n"
                               "6000 0 trace_context tid=12 pid=2 name=other\n"
                               "7000 0 sched_switch prev_tid=12 prev_pid=2 prev_comm=other prev_state=ready "
                               "next_tid=11 next_pid=1 next_comm=calc\n"
                               "8000 0 user_text text=end\n";

    open_known(text, order);
    EXPECT("sched", NO_OPTIONS, {"cpu cpu~0 busy_ns", 1000 + 2000 + 1000 + 1000}, {"cpu cpu~0 boot_ns", 1000},
           {"cpu cpu~0 idle_ns", 0}, {"cpu cpu~0 lost_ns", 2000});
    EXPECT("threads", NO_OPTIONS, {"thread calc running_ns", 3000}, {"thread other running_ns", 1000},
           {"thread calc unknown_ns", 3000});
    EXPECT("syscalls", NO_OPTIONS, {"call futex_wait calls", 1}, {"call futex_wait total_ns", 1000},
           {"call futex_wait max_ns", -1});
    trace_close(&known_trace);
}

/* One CPU's events are lost until the end, the other's are not: what may have run on the first is unknown. */
static void test_lost_end(const char *order)
{
    static const char text[] = "1000 0 trace_context\n"
                               "1000 1 trace_context\n"
                               "2000 0 sched_switch next_tid=11 next_pid=1 next_comm=calc\n"
                               "2000 1 sched_switch next_tid=12 next_pid=2 next_comm=other\n"
                               "3000 1 sched_switch prev_tid=12 prev_pid=2 prev_comm=other "
                               "prev_state=blocked_futex\n"
                               "4000 0 !lost 100\n"
                               "7000 1 user_text text=end\n"
                               "9000 0 !closed\n";

    open_known(text, order);
    EXPECT("sched", NO_OPTIONS, {"cpu cpu~0 busy_ns", 1000 + 2000}, {"cpu cpu~0 lost_ns", 5000},
           {"cpu cpu~1 lost_ns", 0});
    if (tick_ns == 1)
        EXPECT("sched", OPTIONS("+from", "0.000005", "+to", "0.000006"), {"cpu cpu~0 lost_ns", 1000});
    EXPECT("threads", NO_OPTIONS, {"thread calc running_ns", 2000}, {"thread calc unknown_ns", 5000},
           {"thread other running_ns", 1000}, {"thread other unknown_ns", 5000});
    trace_close(&known_trace);
}

/*
 * What a statedump lists holds from the beginning of the trace: of the shop, whose thread is called main, of
 * the class and of the interrupt. What begins later is not: the name late, the process that got the number 3
 * of another, and what is known after a complete statedump. The end of one is at the begin.
 */
static const char told_late[] =
    "100000 0 trace_context\n"
    "100100 0 lttng_statedump_end number=6\n"
    "101000 0 sched_switch next_tid=11 next_pid=1 next_comm=main\n"
    "102000 0 lock_contended lock=0x9000 wait=200 lock_class=5 holder_tid=4294967295\n"
    "103000 0 lock_contended lock=0x9000 wait=100 lock_class=6 holder_tid=4294967295\n"
    "104000 0 irq_handler_entry irq=64\n"
    "105000 0 irq_handler_exit irq=64\n"
    "106000 0 sched_switch prev_tid=11 prev_pid=1 prev_comm=main prev_state=ready next_tid=12 next_pid=2 "
    "next_comm=early\n"
    "108000 0 sched_switch prev_tid=12 prev_pid=2 prev_comm=early prev_state=ready next_tid=13 next_pid=3 "
    "next_comm=old\n"
    "111000 0 process_rename pid=2 name=late\n"
    "112000 0 process_create pid=3\n"
    "113000 0 lttng_statedump_start number=7\n"
    "113100 0 state_process pid=1 name=shop\n"
    "113200 0 state_process pid=2 name=late\n"
    "113300 0 state_process pid=3 name=young\n"
    "113400 0 state_lock_class lock_class=5 name=buddy\n"
    "113500 0 lttng_statedump_interrupt irq=64 action=message\n"
    "113900 0 lttng_statedump_end number=7\n"
    "114000 0 state_lock_class lock_class=6 name=behind\n"
    "120000 0 user_text text=end\n";

static void test_beginning(const char *order)
{
    const char *const *early;

    open_known(told_late, order);
    early = tick_ns == 1 ? OPTIONS("+to", "0.00001") : OPTIONS("+to", "0.00002");
    EXPECT("stats", early, {"process shop/1 ran_ns", 5000}, {"process early/2 ran_ns", 2000},
           {"process old/3 ran_ns", 2000}, {"process main/1 ran_ns", EXPECT_NO_ROW});
    EXPECT("locks", early, {"class buddy contentions", 1}, {"class class~6 contentions", 1});
    EXPECT("irq", early, {"irq irq~64~message count", 1});
    EXPECT("stats", NO_OPTIONS, {"process shop/1 ran_ns", 5000}, {"process late/2 ran_ns", 2000},
           {"process young/3 ran_ns", 12000});
    EXPECT("locks", NO_OPTIONS, {"class behind contentions", 1});
    trace_close(&known_trace);
}

#define COUNTED                                                                                \
    "100000 0 trace_context\n"                                                                 \
    "100100 0 state_process pid=1 name=shop\n"                                                 \
    "100200 0 lttng_statedump_end number=1\n"                                                  \
    "101000 0 sched_switch next_tid=11 next_pid=1 next_comm=main\n"                            \
    "101100 0 counter_bound place=0 slots=2 bits=32 name=instructions\n"                       \
    "101200 0 counter_bound place=1 slots=2 bits=40 name=cycles\n"                             \
    "101500 0 counter_syscall number=4 tid=11 count0=30 count1=60\n"                           \
    "101600 0 counter_syscall number=4 tid=11 count0=10 count1=20\n"                           \
    "101900 0 sched_process_exit tid=11\n"                                                     \
    "102000 0 sched_switch prev_tid=11 prev_pid=1 prev_comm=main prev_state=dead next_tid=12 " \
    "next_pid=1 next_comm=other\n"                                                             \
    "102010 0 counter_run tid=11 pid=1 ended=1 count0=100 count1=400\n"                        \
    "103000 0 counter_run tid=12 pid=1 ended=0 count0=7 count1=14\n"                           \
    "103500 0 counter_interval id=5 tid=12 count0=6 count1=3\n"                                \
    "104000 0 sched_switch prev_tid=12 prev_pid=1 prev_comm=other next_tid=0 next_pid=0\n"     \
    "104010 0 counter_run tid=12 pid=1 ended=1 count0=3 count1=6\n"                            \
    "105000 0 counter_run tid=0 pid=0 ended=1 count0=50 count1=900\n"
#define REBOUND                                                      \
    "106000 0 counter_bound place=0 slots=1 bits=48 name=branches\n" \
    "107000 0 counter_run tid=12 pid=1 ended=1 count0=8\n"

static void test_counters(const char *order)
{
    open_known(COUNTED "120000 0 user_text text=end\n", order);
    EXPECT("counters", NO_OPTIONS, {"counter instructions total", 160}, {"counter cycles bits", 40},
           {"thread main count0", 100}, {"thread main runs", 1}, {"thread other count1", 20},
           {"thread other runs", 1}, {"thread (idle) count1", 900}, {"process shop count0", 110},
           {"process shop runs", 2}, {"syscall cap_close calls", 2}, {"syscall cap_close count1", 80},
           {"interval 5 intervals", 1}, {"interval 5 count0", 6});
    EXPECT("counters", OPTIONS("+tid", "12"), {"process shop count0", 10},
           {"thread main runs", EXPECT_NO_ROW}, {"thread (idle) runs", EXPECT_NO_ROW});
    trace_close(&known_trace);
    open_known(COUNTED REBOUND "120000 0 user_text text=end\n", order);
    EXPECT("counters", NO_OPTIONS, {"counter branches total", 8}, {"thread other count0", 8},
           {"process shop count0", 8});
    trace_close(&known_trace);
}

static void test_byte_order(const char *order)
{
    open_known(two_threads, order);
    test_stats();
    test_threads();
    test_processes();
    test_tree();
    test_activities();
    test_sched();
    test_noise();
    test_slices();
    test_intervals();
    test_failures();
    trace_close(&known_trace);
    test_losses(order);
    test_lost_end(order);
    test_beginning(order);
    test_counters(order);
}

int main(void)
{
    return test_both_orders(test_byte_order);
}
