/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sched_test.c - tests scheduler and timers: golden schedules on CPUs that the test steps. What CPUs do at
 * the same time is explored (docs/explore.md).
 *
 * A golden schedule lists the threads that the CPUs run after each step; '-' is idle.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arch/clock.h>
#include <kernel/cpu/quiescent.h>
#include <kernel/failure/watchdog.h>
#include <kernel/kernel.h>
#include <kernel/memory/slab.h>
#include <kernel/sched/run_queue.h>
#include <kernel/sched/sched.h>
#include <kernel/sched/switch.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <kernel/syscall/machine.h>
#include <kernel/trace/control.h>
#include <tests/unit/kernel/host.h>
#include <tests/unit/stub.h>

#define CPUS        4u
#define THREADS_MAX 64u
#define STEPS       200000u

/* ---- Stubs ---- */

LOCK_CLASS(thread_lock_class, "thread");
static struct thread threads[THREADS_MAX], idle_threads[CPUS_MAX];
static struct thread_block blocks[THREADS_MAX], idle_blocks[CPUS_MAX];
static unsigned parked, finished, kicks;

DOES_NOTHING(void count_switch(struct cpu *cpu, struct thread *prev, struct thread *next));
RETURNS(0, uint64_t trace_switch(struct cpu *cpu, const struct thread *prev, const struct thread *next));
void thread_trace_resumed(struct thread *thread)
{
    thread->traced = 0;
}
void thread_finish(struct thread *thread)
{
    atomic_store(&thread->state, THREAD_DEAD);
    finished++;
}
void thread_park(struct thread *thread)
{
    atomic_store(&thread->state, THREAD_SUSPENDED);
    parked++;
}
void thread_expire(struct thread *thread, uint64_t now)
{
    if (thread->wait_deadline <= now)
        sched_wake(thread);
}
DOES_NOTHING(void arch_timer_set(uint64_t deadline));
static uint64_t test_hz = 1000000000;
void arch_clock_init(struct arch_clock_rate *rate)
{
    *rate = (struct arch_clock_rate){.hz = test_hz, .is_certain = true, .names = "test"};
}
uint64_t trace_heartbeat(uint64_t now)
{
    return now + 1000000000;
}
DOES_NOTHING(void console_poll(void));
DOES_NOTHING(void watchdog_beat(uint64_t now));
DOES_NOTHING(void quiescent_report(void));
RETURNS(0, uint32_t slab_reclaim(uint32_t most));
DOES_NOTHING(void smp_poll(void));
uint64_t profile_period;
void profile_timer(uint64_t now)
{
    timer_set_sample(TIMER_NEVER);
}
DOES_NOTHING(void profile_sleep(void));
DOES_NOTHING(void profile_wake(void));
DOES_NOTHING(void profile_close_window(void));
DOES_NOTHING(void counters_beat(void));
void space_add_cpu(struct space *space, struct cpu *cpu)
{
    atomic_fetch_or(&space->cpus, cpu->bit);
}

static void make_machine(unsigned cpu_total)
{
    sched_idle_cpus = sched_online_cpus = 0;
    memset(threads, 0, sizeof threads);
    for (unsigned i = 0; i < cpu_total; i++) {
        struct cpu *cpu = &cpus[i];
        host_become(i);
        memset(&cpu->run_queue, 0, sizeof cpu->run_queue);
        memset(&idle_threads[i], 0, sizeof idle_threads[i]);
        idle_threads[i].block = &idle_blocks[i];
        idle_threads[i].on_cpu = 1;
        idle_threads[i].cpu = cpu;
        cpu->idle = cpu->current = &idle_threads[i];
        cpu->need_resched = 0;
        cpu->wants_yield = false;
        timer_init_cpu(cpu);
        sched_init_cpu(cpu);
    }
    host_become(0);
}

/* Thread n, blocked. Its name is a letter from A on. */
static struct thread *make_thread(unsigned n, uint32_t priority, uint64_t affinity)
{
    struct thread *thread = &threads[n];
    thread->block = &blocks[n];
    thread->tid = n;
    thread->priority = priority;
    thread->affinity = affinity ? affinity : ~0ull;
    thread->cpu = &cpus[0];
    thread->state = THREAD_BLOCKED_RECEIVE;
    return thread;
}

/* ---- Golden schedules ---- */

static char history[4096];

static void note(const char *text)
{
    strncat(history, text, sizeof history - strlen(history) - 1);
}

static void leave_kernel(unsigned cpu)
{
    host_become(cpu);
    do {
        cpus[cpu].need_resched = 0;
        sched_reschedule();
    } while (cpus[cpu].need_resched);
    uint64_t bit = 1ull << cpu;
    if (cpus[cpu].current == cpus[cpu].idle)
        sched_idle_cpus |= bit;
    else
        sched_idle_cpus &= ~bit;
}

/* Runs the kernel exit of each CPU that was asked to, and notes what runs. */
static void settle(unsigned cpu_total)
{
    for (bool again = true; again;) {
        again = false;
        for (unsigned i = 0; i < cpu_total; i++) {
            if (!cpus[i].need_resched)
                continue;
            kicks++;
            again = true;
            leave_kernel(i);
        }
    }
    char names[CPUS_MAX + 2] = {0};
    for (unsigned i = 0; i < cpu_total; i++)
        names[i] = cpus[i].current == cpus[i].idle ? '-' : (char)('A' + cpus[i].current->tid);
    names[cpu_total] = ' ';
    note(names);
}

static void block_current(unsigned cpu)
{
    atomic_store(&cpus[cpu].current->state, THREAD_BLOCKED_RECEIVE);
    cpus[cpu].need_resched = 1;
}

static void expect(const char *golden, const char *what)
{
    bool same = strcmp(history, golden) == 0;
    check(same, "%s", what);
    if (!same)
        printf("# expected %s\n# got      %s\n", golden, history);
    history[0] = 0;
}

static void test_one_processor(void)
{
    make_machine(1);
    leave_kernel(0);
    sched_wake(make_thread(0, 5, 0));
    settle(1);
    sched_wake(make_thread(1, 5, 0)); /* an equal waits */
    settle(1);
    sched_wake(make_thread(2, 9, 0)); /* a higher priority does not */
    settle(1);
    sched_wake(make_thread(3, 2, 0));
    settle(1);
    block_current(0); /* C blocks; then A, which was preempted, comes before B */
    settle(1);
    block_current(0);
    settle(1);
    block_current(0);
    settle(1);
    block_current(0);
    settle(1);
    expect("A A C C A B D - ", "priorities, and preempted threads before their equals");
}

static void test_slices(void)
{
    make_machine(1);
    leave_kernel(0);
    for (unsigned i = 0; i < 3; i++)
        sched_wake(make_thread(i, 5, 0));
    sched_wake(make_thread(3, 4, 0));
    settle(1);
    for (unsigned i = 0; i < 5; i++) {
        host_clock += sched_slice;
        handle_timer();
        settle(1);
    }
    sched_yield();
    settle(1);
    expect("A B C A B C A ", "slices and yield rotate among equals");
    host_clock += sched_slice / 2;
    handle_timer();
    settle(1);
    expect("A ", "half a slice changes nothing");
    sched_wake(make_thread(4, 9, 0));
    settle(1);
    host_clock += sched_slice;
    block_current(0);
    settle(1); /* A had half of its time slice left */
    host_clock += sched_slice / 2;
    handle_timer();
    settle(1);
    expect("E A B ", "a preempted thread gets the rest of its slice");
}

static void test_placement(void)
{
    make_machine(3);
    for (unsigned i = 0; i < 3; i++)
        leave_kernel(i);
    host_become(0);
    make_thread(0, 5, 0)->cpu = &cpus[2];
    sched_wake(&threads[0]); /* its last CPU is idle */
    settle(3);
    host_become(0);
    make_thread(1, 5, 0)->cpu = &cpus[2];
    sched_wake(&threads[1]); /* its last CPU is busy: this one */
    settle(3);
    host_become(0);
    make_thread(2, 5, 0)->cpu = &cpus[2];
    sched_wake(&threads[2]); /* any idle CPU */
    settle(3);
    make_thread(3, 7, 0)->cpu = &cpus[1];
    sched_wake(&threads[3]); /* preempts on its last CPU */
    settle(3);
    make_thread(4, 6, 0)->cpu = &cpus[1];
    sched_wake(&threads[4]); /* preempts the lowest priority */
    settle(3);
    make_thread(5, 1, 4)->cpu = &cpus[1];
    sched_wake(&threads[5]); /* may only run on the third CPU */
    settle(3);
    expect("--A B-A BCA BDA EDA EDA ", "placement: last, this, any idle one; then preemption; then a queue");
    host_become(2);
    block_current(2); /* F, of lower priority but in its own queue, runs before C or B are stolen */
    settle(3);
    expect("EDF ", "a CPU takes from its own queue first");
    block_current(2);
    settle(3);
    block_current(1);
    settle(3);
    expect("EDB ECB ", "an idle CPU takes from other queues");
}

/* The second CPU goes idle after the first, which is busy, was chosen for B. */
static void test_late_idle(void)
{
    make_machine(2);
    leave_kernel(0);
    host_become(0);
    sched_wake(make_thread(0, 5, 0));
    settle(2);
    leave_kernel(1);
    host_become(0);
    sched_enqueue(make_thread(1, 5, 0), &cpus[0], false);
    settle(2);
    expect("A- AB ", "a CPU that went idle before a thread was queued takes it");
    host_become(1);
    block_current(1);
    settle(2);
    sched_enqueue(make_thread(2, 5, 1), &cpus[0], false);
    settle(2);
    sched_enqueue(make_thread(3, 5, 0), &cpus[0], true);
    settle(2);
    expect("A- A- A- ", "it does not take one that may not run there, or runs at once where it is");
}

static void test_affinity(void)
{
    make_machine(2);
    leave_kernel(0);
    leave_kernel(1);
    host_become(0);
    sched_wake(make_thread(0, 5, 1));
    sched_wake(make_thread(1, 5, 1));
    sched_wake(make_thread(2, 9, 1));
    settle(2);
    expect("C- ", "no CPU takes a thread that may not run there");
    sched_set_affinity(&threads[1], 2);
    settle(2);
    sched_set_affinity(&threads[2], 2); /* it runs on the first CPU; preempts on the second */
    settle(2);
    sched_set_priority(&threads[1], 12);
    settle(2);
    sched_set_affinity(&threads[1], 3);
    sched_set_priority(&threads[0], 1);
    settle(2);
    expect("CB AC AB AB ", "changes of affinity and priority work on queued and running threads");
    atomic_fetch_or(&threads[0].pending, PENDING_SUSPEND);
    sched_kick(&threads[0]);
    settle(2); /* C may not run on the first CPU */
    expect("-B ", "a suspended thread leaves its queue");
    atomic_fetch_or(&threads[1].pending, PENDING_KILL);
    sched_kick(&threads[1]);
    settle(2);
    expect("-C ", "a killed thread ends");
    check(parked == 1 && finished == 1, "each of them ends once");
}

/* ---- Timers ---- */

static void test_timers(void)
{
    static struct timer timers[500];
    bool armed[500] = {0}, ordered = true;
    make_machine(1);
    srand(1);
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned i = (unsigned)rand() % 500;
        if (rand() % 3) {
            timer_add(&timers[i], 1 + (uint64_t)rand() % 100000);
            armed[i] = true;
        } else {
            timer_remove(&timers[i]);
            armed[i] = false;
        }
    }
    unsigned expected = 0, taken = 0;
    uint64_t last = 0;
    for (unsigned i = 0; i < 500; i++)
        expected += armed[i];
    struct timer *timer;
    check(timer_take_due(0) == NULL, "nothing is due before its time");
    while ((timer = timer_take_due(~0ull))) {
        ordered &= timer->deadline >= last && armed[timer - timers];
        last = timer->deadline;
        taken++;
    }
    check(ordered && taken == expected, "timers come out in order, all that were not removed");
    test_hz = 2599998123;
    timer_init(&(struct arch_clock_rate){0});
    uint64_t ns = 123456789012345;
    check(timer_nanoseconds(timer_ticks(ns)) - ns < 100000 ||
              ns - timer_nanoseconds(timer_ticks(ns)) < 100000,
          "conversions of units are reversible");
    check(timer_ticks(TARN_FOREVER) == TIMER_NEVER && timer_ticks(~1ull) <= TIMER_NEVER,
          "an infinite time stays infinite");
}

int main(void)
{
    host_start(CPUS);
    timer_init(&(struct arch_clock_rate){0});
    test_one_processor();
    test_slices();
    test_placement();
    test_late_idle();
    test_affinity();
    test_timers();
    return finish_tests();
}
