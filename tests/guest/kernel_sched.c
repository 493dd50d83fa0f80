/*
 * kernel_sched.c - preemption by priorities. Whom the scheduler chooses, and where: sched_test.c in
 * tests/unit/kernel.
 */
#include "child.h"
#include "leak.h"
#include "tap.h"

#define MS 1000000ull

enum { SLOT_SIGNAL = 16, SLOT_REPLY };

static struct shared {
    _Atomic uint64_t answered_at;
} * shared;

static struct shared *const child_shared = (struct shared *)CHILD_SHARED;

/* ---- in the child ---------------------------------------------------------------------------------- */

static void spin(uint64_t unused)
{
    for (;;)
        ;
}

/* Replies to each signal with one. */
static void answer_signals(uint64_t unused)
{
    while (sys_notification_wait(SLOT_SIGNAL, TARN_FOREVER) > 0) {
        child_shared->answered_at = clock_monotonic_ns();
        sys_notification_signal(SLOT_REPLY, 1);
    }
}

/* ---- the test -------------------------------------------------------------------------------------- */

/* Signals until no reply comes, at most 50 times. Returns how often one came within a millisecond. */
static unsigned count_prompt(cap_t signal, cap_t reply, uint64_t patience)
{
    unsigned asked = 0, prompt = 0;
    for (; asked < 50; asked++) {
        uint64_t begin = clock_monotonic_ns();
        sys_notification_signal(signal, 1);
        if (sys_notification_wait(reply, deadline_after(patience)) != 1)
            break;
        prompt += shared->answered_at - begin < MS;
    }
    printf("# %u of %u replies within a millisecond\n", prompt, asked);
    return prompt;
}

/* A woken thread with a higher priority than the running one does not wait for the end of the time slice, and
 * one with a lower priority waits as long as that runs. */
int main(void)
{
    struct child child;
    child_prepare();
    const cap_t signal = must(sys_notification_create()), reply = must(sys_notification_create()),
                memory = must(sys_memory_create(TARN_PAGE_SIZE));
    const uint64_t last = 1ull << (read_stats().cpus - 1);
    shared = memory_map(memory, TARN_PAGE_SIZE, MAP_READ | MAP_WRITE);
    must(child_create(&child, "answers"));
    child_map(&child, memory, CHILD_SHARED, TARN_PAGE_SIZE, MAP_READ | MAP_WRITE);
    must(child_give(&child, signal, SLOT_SIGNAL, RIGHT_ALL));
    must(child_give(&child, reply, SLOT_REPLY, RIGHT_ALL));
    const cap_t spins = child_run(&child, spin, 0, 3, last),
                answers = child_run(&child, answer_signals, 0, 1, last);
    check(count_prompt(signal, reply, 100 * MS) == 0, "a thread of lower priority does not run");
    must(sys_thread_set_priority(answers, 5));
    check(sys_notification_wait(reply, deadline_after(10000 * MS)) == 1, "a raised priority takes the CPU");
    /* The emulator may stop running a vCPU between reading the clock and the signal. */
    check(count_prompt(signal, reply, 10000 * MS) >= 45, "a thread of higher priority preempts at once");
    must(sys_thread_suspend(answers));
    check(count_prompt(signal, reply, 100 * MS) == 0, "until it is suspended");
    must(sys_thread_resume(answers));
    check(sys_notification_wait(reply, deadline_after(10000 * MS)) == 1, "and resumed");
    must(sys_thread_set_priority(spins, 7));
    check(count_prompt(signal, reply, 100 * MS) == 0, "or the other thread has the higher priority");
    child_end(&child);
    return finish_tests();
}
