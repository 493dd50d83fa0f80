/*
 * kernel_sched.c - preemption by priorities, on the last CPU. Whom the scheduler chooses, and where:
 * sched_test.c in tests/unit/kernel.
 */
#include "tap.h"
#include "threads.h"

#define MS 1000000ull

int pthread_setschedprio(pthread_t thread, int priority); /* newlib does not declare it */

static cap_t bell, reply;
static _Atomic uint64_t answered_at;

static void *spin(void *unused)
{
    for (;;)
        ;
    return unused;
}

/* Replies to each signal with one. */
static void *answer_signals(void *unused)
{
    while (sys_notification_wait(bell, TARN_FOREVER) > 0) {
        answered_at = clock_monotonic_ns();
        sys_notification_signal(reply, 1);
    }
    return unused;
}

/* Signals until no reply comes, at most 50 times. Returns how often one came within a millisecond. */
static unsigned count_prompt(uint64_t patience)
{
    unsigned prompt = 0;
    for (unsigned asked = 0; asked < 50; asked++) {
        uint64_t begin = clock_monotonic_ns();
        sys_notification_signal(bell, 1);
        if (sys_notification_wait(reply, deadline_after(patience)) != 1)
            break;
        prompt += answered_at - begin < MS;
    }
    return prompt;
}

/* A woken thread with a higher priority than the running one does not wait for the end of the time slice, and
 * one with a lower priority waits as long as that runs. */
int main(void)
{
    const int last = (int)sysconf(_SC_NPROCESSORS_ONLN) - 1;
    pthread_t spins, answers;
    bell = (cap_t)sys_notification_create();
    reply = (cap_t)sys_notification_create();
    start_thread_on(&answers, last, answer_signals, NULL);
    pthread_setschedprio(answers, 1);
    start_thread_on(&spins, last, spin, NULL);
    pthread_setschedprio(spins, 3);
    check(count_prompt(100 * MS) == 0, "a thread of lower priority does not run");
    pthread_setschedprio(answers, 5);
    check(sys_notification_wait(reply, deadline_after(10000 * MS)) == 1, "a raised priority takes the CPU");
    /* The emulator may stop running a vCPU between reading the clock and the signal. */
    check(count_prompt(10000 * MS) >= 45, "a thread of higher priority preempts at once");
    pthread_setschedprio(spins, 7);
    check(count_prompt(100 * MS) == 0, "unless the other thread has the higher priority");
    return finish_tests();
}
