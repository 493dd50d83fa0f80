/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/tarn/locks_test.c - what tarn locks says of traces whose results are known, in both byte orders.
 * Prints TAP.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tests/unit/tarn/known_results.h>

/*
 * hold (11) on processor 0 has a mutex that wait (12) on processor 1 wants from 120000 to 190000. Meanwhile
 * hold runs, is preempted by busy (13), runs, sleeps in a system call, is ready, and runs until it releases
 * and wakes wait. At the end wait sleeps for it again. Then there is a lock of the kernel, in a class that is
 * sampled.
 */
static const char one_wait[] =
    "100000 0 trace_context\n"
    "100000 1 trace_context\n"
    "100100 0 state_lock_class lock_class=0 name=mutex\n"
    "100200 0 state_lock_class lock_class=5 watch=1 name=buddy\n"
    "100500 0 process_create pid=1\n"
    "100600 0 process_rename pid=1 name=shop\n"
    "101000 0 sched_process_fork child_comm=hold child_tid=11 child_pid=1\n"
    "101000 0 sched_process_fork child_comm=wait child_tid=12 child_pid=1\n"
    "101000 0 sched_process_fork child_comm=busy child_tid=13 child_pid=1\n"
    "110000 0 sched_switch next_tid=11 next_pid=1 next_comm=hold\n"
    "110000 1 sched_switch next_tid=12 next_pid=1 next_comm=wait\n"
    "125000 1 lock_sleep lock=0x5000 holder_tid=11 holder_pid=1 pid=1\n"
    "126000 1 sched_switch prev_comm=wait prev_tid=12 prev_pid=1 prev_state=blocked_futex next_tid=0\n"
    "130000 0 sched_switch prev_comm=hold prev_tid=11 prev_pid=1 prev_state=ready next_tid=13 next_pid=1 "
    "next_comm=busy\n"
    "150000 0 sched_switch prev_comm=busy prev_tid=13 prev_pid=1 prev_state=ready next_tid=11 next_pid=1 "
    "next_comm=hold\n"
    "155000 0 syscall_entry number=thread_sleep tid=11\n"
    "160000 0 sched_switch prev_comm=hold prev_tid=11 prev_pid=1 prev_state=sleeping next_tid=0\n"
    "170000 0 sched_wakeup comm=hold tid=11\n"
    "171000 0 sched_switch prev_tid=0 prev_state=ready next_tid=11 next_pid=1 next_comm=hold\n"
    "175000 0 syscall_exit number=thread_sleep tid=11\n"
    "180000 0 sched_wakeup comm=wait tid=12\n"
    "185000 1 sched_switch prev_tid=0 prev_state=ready next_tid=12 next_pid=1 next_comm=wait\n"
    "190000 1 lock_contended lock=0x5000 wait=70000 spins=200 pid=1 holder_tid=11 holder_pid=1 depth=2 "
    "chain=0x401000:0x402000\n"
    "195000 1 lock_held lock=0x5000 held=5000 pid=1\n"
    "200000 0 lock_acquired lock=0x9000 lock_class=5 acquisitions=3 depth=1 chain=0xf001\n"
    "200500 0 lock_held lock=0x9000 held=400 lock_class=5\n"
    "201000 1 lock_contended lock=0x9000 wait=200 spins=9 lock_class=5 holder_tid=4294967295 depth=1 "
    "chain=0xf001\n"
    "201100 1 lock_acquired lock=0x9000 lock_class=5 acquisitions=1 depth=1 chain=0xf001\n"
    "201500 1 lock_held lock=0x9000 held=300 lock_class=5\n"
    "210000 1 lock_sleep lock=0x5000 holder_tid=11 holder_pid=1 pid=1\n"
    "210500 1 sched_switch prev_comm=wait prev_tid=12 prev_pid=1 prev_state=blocked_futex next_tid=0\n"
    "230000 0 user_text text=end\n"
    "230000 1 user_text text=end\n";

/* What it says about unknown acquisitions. */
static void expect_note(const char *note)
{
    struct filter filter;
    struct fail fail = {""};
    struct analysis *analysis = ask("locks", NO_OPTIONS, &filter, &fail);

    check(strncmp(analysis->note, note, strlen(note) + (*note == 0)) == 0,
          "locks: the note is \"%s\", not \"%s\"", note, analysis->note);
    analysis_free(analysis);
}

static void test_wait(void)
{
    expect_note("1 contended lock class was not sampled: ");
    EXPECT("locks", NO_OPTIONS, {"class mutex contentions", 1}, {"class mutex waited_ns", 70000},
           {"class mutex wait_max_ns", 70000}, {"class mutex spins", 200},
           {"class mutex acquisitions", EXPECT_NONE}, {"class mutex watch", EXPECT_NONE},
           {"class mutex holds", 1}, {"class mutex held_ns", 5000}, {"lock 0x5000/1 waited_ns", 70000},
           {"process shop/1 waited_ns", 70200}, {"thread wait contentions", 2});
    EXPECT("locks", NO_OPTIONS, {"cause mutex running_ns", 10000 + 10000 + 9000},
           {"cause mutex preempted_ns", 20000 + 1000}, {"cause mutex blocked_ns", 10000},
           {"cause mutex free_ns", 10000}, {"cause mutex unknown_ns", 0}, {"holder hold/11 waits", 1},
           {"holder hold/11 waited_ns", 60000}, {"holder hold/11 preempted_ns", 21000},
           {"longest mutex duration_ns", 70000}, {"longest mutex at_ns", 20000},
           {"longest mutex holder_tid", 11}, {"longest mutex blocked_ns", 10000},
           {"longest mutex instead_tid", 13}, {"longest mutex instead_ran_ns", 20000},
           {"instead busy/13 waited_ns", 20000}, {"instead busy/13 holder_tid", 11},
           {"longest mutex waker_tid", 11}, {"waker hold/11 waited_ns", 70000},
           {"wait (all) count", EXPECT_NO_ROW});
    expect_text("locks", NO_OPTIONS, "longest mutex holder", "hold");
    expect_text("locks", NO_OPTIONS, "longest mutex thread", "wait");
    expect_text("locks", NO_OPTIONS, "chain 0x401000~<~0x402000 process", "shop");
    EXPECT("locks", NO_OPTIONS, {"chain 0x401000~<~0x402000 holds", 1},
           {"chain 0x401000~<~0x402000 held_ns", 5000});
    EXPECT("locks", OPTIONS("depth", "1"), {"chain 0x401000 waited_ns", 70000});
}

/* Who kept the chain of that wait waiting, doing what: sums of the rows that say so. */
struct meanwhile {
    const char *did, *holder, *instead; /* NULL: an empty cell */
    uint64_t waits, waited, longest;    /* times in ticks */
};

static uint64_t count_in(const struct table *table, const struct table_row *row, const char *column)
{
    return row->cells[table_find_column(table, column)].count;
}

static bool text_is(const struct table *table, const struct table_row *row, const char *column,
                    const char *text)
{
    const char *found = row->cells[table_find_column(table, column)].text;

    return text == NULL ? found == NULL : found != NULL && strcmp(found, text) == 0;
}

static bool is_told(const struct table *table, const char *chain, const struct meanwhile *expected)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct table_row *row = table->rows[i];

        if (strcmp(row->name, chain) == 0 && text_is(table, row, "did", expected->did) &&
            text_is(table, row, "holder", expected->holder) &&
            text_is(table, row, "instead", expected->instead))
            return count_in(table, row, "waits") == expected->waits &&
                   count_in(table, row, "waited_ns") == expected->waited * tick_ns &&
                   count_in(table, row, "longest_ns") == expected->longest * tick_ns;
    }
    return false;
}

static void expect_meanwhile(const char *chain, const struct meanwhile *expected, size_t count)
{
    struct filter filter;
    struct fail fail = {""};
    struct analysis *analysis = ask("locks", NO_OPTIONS, &filter, &fail);
    const struct table *table = find_table(analysis, "chain-holder");
    size_t rows = 0;

    for (size_t i = 0; i < table->count; i++)
        rows += strcmp(table->rows[i]->name, chain) == 0;
    check(rows == count, "locks: %zu rows have the holders that %s waited for", count, chain);
    for (size_t i = 0; i < count; i++)
        check(is_told(table, chain, &expected[i]), "locks: %s waited %" PRIu64 " for %s: %s", chain,
              expected[i].waited, expected[i].holder != NULL ? expected[i].holder : "nobody",
              expected[i].did);
    analysis_free(analysis);
}

static void test_chain_holders(void)
{
    static const struct meanwhile mutex[] = {{"runs, user code", "hold", NULL, 1, 20000, 20000},
                                             {"runs in the kernel", "hold", NULL, 1, 9000, 9000},
                                             {"preempted", "hold", "busy", 1, 20000, 20000},
                                             {"preempted", "hold", NULL, 1, 1000, 1000},
                                             {"sleeping", "hold", NULL, 1, 10000, 10000},
                                             {"free", NULL, NULL, 1, 10000, 10000}};
    static const struct meanwhile buddy[] = {{"unknown", NULL, NULL, 1, 200, 200}};

    expect_meanwhile("0x401000 < 0x402000", mutex, sizeof(mutex) / sizeof(mutex[0]));
    expect_meanwhile("0xf001", buddy, 1);
}

static void test_sampled(void)
{
    EXPECT("locks", NO_OPTIONS, {"class buddy watch", 1}, {"class buddy acquisitions", 4},
           {"class buddy contentions", 1}, {"class buddy contended_percent", 25},
           {"class buddy held_ns", 700}, {"class buddy held_max_ns", 400}, {"class buddy held_mean_ns", 350},
           {"lock 0x9000/0 acquisitions", 4}, {"chain 0xf001 acquisitions", 4},
           {"chain 0xf001 contentions", 1}, {"chain 0xf001 holds", 2}, {"chain 0xf001 held_ns", 700},
           {"chain 0xf001 held_max_ns", 400}, {"thread hold acquisitions", 3},
           {"cause buddy unknown_ns", 200});
    expect_text("locks", NO_OPTIONS, "chain 0xf001 process", "kernel");
}

static void test_rest(void)
{
    EXPECT("locks", NO_OPTIONS, {"waiting wait tid", 12}, {"waiting wait since_ns", 110000},
           {"waiting wait holder_tid", 11}, {"waiting hold tid", -1e9});
    expect_text("locks", NO_OPTIONS, "waiting wait class", "mutex");
    EXPECT("locks", OPTIONS("+tid", "11"), {"class mutex contentions", EXPECT_NO_ROW},
           {"class buddy acquisitions", 3}, {"class buddy contentions", 0});
    if (tick_ns == 1) /* an earlier event names the classes, and says which of them are sampled */
        EXPECT("locks", OPTIONS("+from", "0.00010", "+to", "0.000102"), {"class buddy contentions", 1},
               {"class buddy contended_percent", 25}, {"class mutex contentions", EXPECT_NO_ROW});
}

/* A semaphore, which nobody holds, a condition in whose wait time was over, and a lock with a name that two
 * read and one wants to write. */
static const char events[] =
    "100000 0 trace_context\n"
    "100000 1 trace_context\n"
    "100100 0 state_lock_class lock_class=2 name=write\n"
    "100100 0 state_lock_class lock_class=4 kind=event name=semaphore\n"
    "100100 0 state_lock_class lock_class=5 kind=event name=condition\n"
    "100200 0 lock_name lock=0x6000 pid=1 name=tickets\n"
    "100200 0 lock_name lock=0x7000 pid=1 name=shelf\n"
    "100200 0 lock_name lock=0x8000 pid=1 name=gone\n"
    "100300 0 lock_name lock=0x8000 pid=1\n"
    "101000 0 sched_process_fork child_comm=post child_tid=11 child_pid=1\n"
    "101000 0 sched_process_fork child_comm=wait child_tid=12 child_pid=1\n"
    "102000 0 sched_switch next_tid=11 next_pid=1 next_comm=post\n"
    "102000 1 sched_switch next_tid=12 next_pid=1 next_comm=wait\n"
    "110000 1 lock_sleep lock=0x6000 holder_tid=4294967295 holder_pid=4294967295 lock_class=4 pid=1\n"
    "110100 1 sched_switch prev_comm=wait prev_tid=12 prev_pid=1 prev_state=blocked_futex next_tid=0\n"
    "130000 0 sched_wakeup comm=wait tid=12\n"
    "131000 1 sched_switch prev_tid=0 prev_state=ready next_tid=12 next_pid=1 next_comm=wait\n"
    "132000 1 lock_contended lock=0x6000 wait=22000 lock_class=4 pid=1 holder_tid=4294967295 depth=1 "
    "chain=0x401000\n"
    "140000 1 lock_contended lock=0x8000 wait=5000 lock_class=5 pid=1 holder_tid=4294967295\n"
    "150000 1 lock_contended lock=0x7000 wait=4000 lock_class=2 pid=1 holder_tid=4294967295 readers=2\n"
    "150000 0 user_text text=end\n";

static void test_events(void)
{
    EXPECT("locks", NO_OPTIONS, {"class semaphore contentions", 1}, {"class semaphore waited_ns", 22000},
           {"class semaphore contended_percent", EXPECT_NONE}, {"class condition waited_ns", 5000},
           {"lock tickets waited_ns", EXPECT_NO_ROW}, {"lock shelf waited_ns", 4000},
           {"event tickets waited_ns", 22000}, {"event tickets waits", 1}, {"event 0x8000 waited_ns", 5000},
           {"event-chain 0x401000 waits", 1}, {"chain 0x401000 waited_ns", EXPECT_NO_ROW},
           {"waker post/11 waits", 1}, {"waker post/11 waited_ns", 22000},
           {"cause semaphore waited_ns", EXPECT_NO_ROW}, {"thread wait waited_ns", 4000},
           {"thread wait contentions", 1}, {"longest semaphore duration_ns", EXPECT_NO_ROW},
           {"longest write duration_ns", 4000});
    expect_text("locks", NO_OPTIONS, "waker post class", "semaphore");
}

/* Three threads, one after the other: each waits for all before it. The class is sampled, but no acquisition
 * was among those logged. */
static void test_convoy(void)
{
    expect_note("");
    EXPECT("locks", NO_OPTIONS, {"holder a/11 waited_ns", 10000 + 10000}, {"holder a/11 waits", 2},
           {"holder b/12 waited_ns", 20000}, {"holder b/12 waits", 1}, {"holder b/12 running_ns", 20000},
           {"holder c/13 waited_ns", EXPECT_NO_ROW}, {"cause mutex running_ns", 40000},
           {"cause mutex unknown_ns", 0}, {"longest mutex duration_ns", 30000},
           {"longest mutex holder_tid", 12});
    expect_meanwhile("(unknown)",
                     (const struct meanwhile[]){{"runs, user code", "a", NULL, 2, 20000, 10000},
                                                {"runs, user code", "b", NULL, 1, 20000, 20000}},
                     2);
}

static const char convoy[] =
    "100000 0 trace_context\n"
    "100000 1 trace_context\n"
    "100000 2 trace_context\n"
    "100100 0 state_lock_class lock_class=0 watch=64 name=mutex\n"
    "101000 0 sched_process_fork child_comm=a child_tid=11 child_pid=1\n"
    "101000 0 sched_process_fork child_comm=b child_tid=12 child_pid=1\n"
    "101000 0 sched_process_fork child_comm=c child_tid=13 child_pid=1\n"
    "102000 0 sched_switch next_tid=11 next_pid=1 next_comm=a\n"
    "102000 1 sched_switch next_tid=12 next_pid=1 next_comm=b\n"
    "102000 2 sched_switch next_tid=13 next_pid=1 next_comm=c\n"
    "120000 1 lock_contended lock=0x5000 wait=10000 pid=1 holder_tid=11 holder_pid=1\n"
    "140000 2 lock_contended lock=0x5000 wait=30000 pid=1 holder_tid=11 holder_pid=1\n"
    "150000 0 user_text text=end\n"
    "150000 1 user_text text=end\n"
    "150000 2 user_text text=end\n";

/* A holder that has ended when the lock is taken. */
static const char ended[] =
    "100000 0 trace_context\n"
    "100000 1 trace_context\n"
    "101000 0 sched_process_fork child_comm=a child_tid=11 child_pid=1\n"
    "101000 0 sched_process_fork child_comm=b child_tid=12 child_pid=1\n"
    "102000 0 sched_switch next_tid=11 next_pid=1 next_comm=a\n"
    "102000 1 sched_switch next_tid=12 next_pid=1 next_comm=b\n"
    "120000 0 sched_process_exit tid=11\n"
    "121000 0 sched_switch prev_tid=11 prev_pid=1 prev_comm=a prev_state=dead next_tid=0\n"
    "130000 1 lock_contended lock=0x5000 wait=15000 pid=1 holder_tid=11 holder_pid=1\n"
    "150000 0 user_text text=end\n";

static void test_ended(void)
{
    EXPECT("locks", NO_OPTIONS, {"holder a/11 waits", 1}, {"longest class~0 holder_tid", 11},
           {"longest class~0 duration_ns", 15000});
}

/* A holder that is preempted BUSY_TURNS times in one wait, 10 ticks each time, and runs 30 in between: all
 * of that is told. */
#define BUSY_TURNS 400
static const char busy_begin[] = "100000 0 trace_context\n"
                                 "100000 1 trace_context\n"
                                 "101000 0 sched_process_fork child_comm=a child_tid=11 child_pid=1\n"
                                 "101000 0 sched_process_fork child_comm=b child_tid=12 child_pid=1\n"
                                 "101000 0 sched_process_fork child_comm=c child_tid=13 child_pid=1\n"
                                 "102000 1 sched_switch next_tid=13 next_pid=1 next_comm=c\n"
                                 "110000 0 sched_switch next_tid=11 next_pid=1 next_comm=a\n";
static const char busy_turn[] =
    "%d 0 sched_switch prev_tid=11 prev_pid=1 prev_comm=a prev_state=ready next_tid=12 next_pid=1 "
    "next_comm=b\n"
    "%d 0 sched_switch prev_tid=12 prev_pid=1 prev_comm=b prev_state=ready next_tid=11 next_pid=1 "
    "next_comm=a\n";
static const char busy_end[] = "%d 1 lock_contended lock=0x5000 wait=%d pid=1 holder_tid=11 holder_pid=1\n"
                               "160000 0 user_text text=end\n"
                               "160000 1 user_text text=end\n";

static void open_busy(const char *order)
{
    size_t capacity = sizeof(busy_begin) + sizeof(busy_end) + BUSY_TURNS * (sizeof(busy_turn) + 16), used;
    char *text = malloc(capacity);

    used = (size_t)snprintf(text, capacity, "%s", busy_begin);
    for (int i = 0, at = 110000; i < BUSY_TURNS; i++, at += 40)
        used += (size_t)snprintf(text + used, capacity - used, busy_turn, at + 30, at + 40);
    snprintf(text + used, capacity - used, busy_end, 110000 + 40 * BUSY_TURNS, 40 * BUSY_TURNS);
    open_known(text, order);
    free(text);
}

static void test_busy(void)
{
    EXPECT("locks", NO_OPTIONS, {"holder a/11 waited_ns", 40 * BUSY_TURNS},
           {"holder a/11 running_ns", 30 * BUSY_TURNS}, {"holder a/11 preempted_ns", 10 * BUSY_TURNS},
           {"holder a/11 unknown_ns", 0}, {"instead b/12 waited_ns", 10 * BUSY_TURNS});
}

/* A holder that has been preempted when the wait begins; since then two other threads have run, one of them
 * twice. */
static const char two_others[] =
    "100000 0 trace_context\n"
    "100000 1 trace_context\n"
    "101000 0 sched_process_fork child_comm=a child_tid=11 child_pid=1\n"
    "101000 0 sched_process_fork child_comm=b child_tid=12 child_pid=1\n"
    "101000 0 sched_process_fork child_comm=c child_tid=13 child_pid=1\n"
    "101000 0 sched_process_fork child_comm=d child_tid=14 child_pid=1\n"
    "102000 0 sched_switch next_tid=11 next_pid=1 next_comm=a\n"
    "102000 1 sched_switch next_tid=14 next_pid=1 next_comm=d\n"
    "110000 0 sched_switch prev_tid=11 prev_pid=1 prev_comm=a prev_state=ready next_tid=12 next_pid=1\n"
    "111000 0 sched_switch prev_tid=12 prev_pid=1 prev_comm=b prev_state=ready next_tid=13 next_pid=1\n"
    "112000 0 sched_switch prev_tid=13 prev_pid=1 prev_comm=c prev_state=ready next_tid=12 next_pid=1\n"
    "150000 0 sched_switch prev_tid=12 prev_pid=1 prev_comm=b prev_state=ready next_tid=11 next_pid=1\n"
    "160000 1 lock_contended lock=0x5000 wait=40000 pid=1 holder_tid=11 holder_pid=1\n"
    "170000 0 user_text text=end\n"
    "170000 1 user_text text=end\n";

static void test_two_others(void)
{
    EXPECT("locks", NO_OPTIONS, {"holder a/11 waited_ns", 40000}, {"holder a/11 preempted_ns", 30000},
           {"instead b/12 waited_ns", 30000}, {"longest class~0 instead_tid", 12},
           {"longest class~0 instead_ran_ns", 30000});
}

static void test_byte_order(const char *order)
{
    open_known(one_wait, order);
    test_wait();
    test_chain_holders();
    test_sampled();
    test_rest();
    trace_close(&known_trace);
    open_known(convoy, order);
    test_convoy();
    trace_close(&known_trace);
    open_known(events, order);
    test_events();
    trace_close(&known_trace);
    open_known(ended, order);
    test_ended();
    trace_close(&known_trace);
    open_known(two_others, order);
    test_two_others();
    trace_close(&known_trace);
    open_busy(order);
    test_busy();
    trace_close(&known_trace);
}

int main(void)
{
    return test_both_orders(test_byte_order);
}
