/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel_sched.c - scheduling: priorities, time slices, suspension. Where threads are placed, and stolen:
 * tests/unit/kernel/sched_test.c.
 *
 * The threads live in a child and count in memory shared with the test.
 */
#include "child.h"
#include "leak.h"
#include "tap.h"

#include <stdlib.h>

#define MS 1000000ull

enum { SLOT_SIGNAL = 16, SLOT_REPLY };

struct shared {
    struct {
        _Atomic uint64_t count;
    } threads[2];
    _Atomic uint64_t answered_at;
};
_Static_assert(sizeof(struct shared) <= TARN_PAGE_SIZE, "one page is shared");

static struct shared *shared;
static cap_t shared_memory;
static unsigned cpu_count;

static void sleep_ms(uint64_t ms)
{
    sys_thread_sleep(deadline_after(ms * MS));
}

/* ---- in the child ---------------------------------------------------------------------------------- */

static struct shared *const child_shared = (struct shared *)CHILD_SHARED;

static void count_always(uint64_t index)
{
    for (;;)
        child_shared->threads[index].count++;
}

/* Replies to each signal with one. */
static void answer_signals(uint64_t index)
{
    while (sys_notification_wait(SLOT_SIGNAL, TARN_FOREVER) > 0) {
        child_shared->threads[index].count++;
        child_shared->answered_at = clock_monotonic_ns();
        sys_notification_signal(SLOT_REPLY, 1);
    }
}

/* ---- tests ----------------------------------------------------------------------------------------- */

static void make_child(struct child *child)
{
    must(child_create(child, "counters"));
    child_map(child, shared_memory, CHILD_SHARED, TARN_PAGE_SIZE, MAP_READ | MAP_WRITE);
    *shared = (struct shared){0};
}

/* Waits until a thread has counted further; the host may delay a vCPU. */
static bool gets_on(unsigned index, uint64_t from)
{
    for (int turn = 0; turn < 1000; turn++) {
        if (shared->threads[index].count != from)
            return true;
        sleep_ms(10);
    }
    return false;
}

/* Waits until one thread runs and the other does not, for a while. */
static bool runs_instead(unsigned index, unsigned other)
{
    for (int turn = 0, in_a_row = 0; turn < 100; turn++) {
        uint64_t count = shared->threads[index].count, others = shared->threads[other].count;
        sleep_ms(30);
        if (!gets_on(index, count))
            return false;
        in_a_row = shared->threads[other].count == others ? in_a_row + 1 : 0;
        if (in_a_row == 4)
            return true;
    }
    return false;
}

/* Waits until both have progressed equally, within a factor of four; over short times the host decides. */
static bool share_processor(unsigned one, unsigned other)
{
    uint64_t first = shared->threads[one].count, second = shared->threads[other].count;
    for (int turn = 0; turn < 100; turn++) {
        sleep_ms(400);
        uint64_t a = shared->threads[one].count - first, b = shared->threads[other].count - second;
        if (a > b / 4 && b > a / 4)
            return true;
    }
    return false;
}

static void test_priorities(void)
{
    struct child child;
    make_child(&child);
    cap_t low = child_run(&child, count_always, 0, 1, 1), high = child_run(&child, count_always, 1, 3, 1);
    check(runs_instead(1, 0), "a thread of higher priority runs instead of a lower one");
    must(sys_thread_set_priority(high, 1));
    check(share_processor(0, 1), "equal priorities share the CPU");
    must(sys_thread_set_priority(low, 5));
    check(runs_instead(0, 1), "a raised priority takes it");
    must(sys_thread_suspend(low));
    check(runs_instead(1, 0), "until it is suspended");
    must(sys_thread_resume(low));
    check(runs_instead(0, 1), "and resumed");
    sys_cap_close(low);
    sys_cap_close(high);
    child_end(&child);
}

/* A woken thread with a higher priority than the running one does not wait for the end of the time slice. */
static void test_preemption(void)
{
    struct child child;
    cap_t signal = must(sys_notification_create()), reply = must(sys_notification_create());
    make_child(&child);
    must(child_give(&child, signal, SLOT_SIGNAL, RIGHT_ALL));
    must(child_give(&child, reply, SLOT_REPLY, RIGHT_ALL));
    uint64_t last = 1ull << (cpu_count - 1);
    sys_cap_close(child_run(&child, count_always, 0, 1, last));
    sys_cap_close(child_run(&child, answer_signals, 1, 5, last));
    sleep_ms(30);
    unsigned asked = 0, prompt = 0;
    for (; asked < 50; asked++) {
        uint64_t begin = clock_monotonic_ns();
        sys_notification_signal(signal, 1);
        if (sys_notification_wait(reply, deadline_after(10000 * MS)) != 1)
            break;
        prompt += shared->answered_at - begin < MS;
    }
    printf("# %u of %u replies within a millisecond\n", prompt, asked);
    /* The emulator may stop running a vCPU between reading the clock and the signal. */
    check(asked == 50 && shared->threads[1].count == asked && prompt >= 45,
          "a thread of higher priority preempts at once");
    sys_cap_close(signal);
    sys_cap_close(reply);
    child_end(&child);
}

int main(void)
{
    child_prepare();
    cpu_count = (unsigned)read_stats().cpus;
    shared_memory = must(sys_memory_create(TARN_PAGE_SIZE));
    shared = memory_map(shared_memory, TARN_PAGE_SIZE, MAP_READ | MAP_WRITE);
    test_priorities();
    test_preemption();
    return finish_tests();
}
