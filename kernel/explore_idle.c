/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/explore_idle.c - finds processors that sleep although they should run a thread. Interface:
 * explore.h.
 *
 * When a processor wakes up, whatever woke it, two kinds of threads must not be there (leave.c, sched.c):
 *
 *   - in another's queue: one that this processor may run, and that could be taken from there already when
 *     this one had said that it is idle. Its last look at the queues comes after that, so it saw the thread.
 *   - in its own queue: one that was put there long ago. The interrupt that tells this processor takes as
 *     long as a turn of each other one, which ends at a timer at the latest.
 *
 * A thread that became ready in between waits for its processor, and is none of these: who chose that
 * processor did so before this one was idle. A heartbeat ends each sleep, so a lost interrupt only delays.
 */
#ifdef TARN_EXPLORE
#include <arch/clock.h>
#include <kernel/cpu.h>
#include <kernel/explore.h>
#include <kernel/explore_point.h>
#include <kernel/kernel.h>
#include <kernel/run_queue.h>
#include <kernel/sched.h>
#include <kernel/space.h>
#include <kernel/thread.h>

#define THREADS 4096u

/* Ticks, by a hash of the thread's address. Where two share a place, the later time stands: nothing is told
 * that is not so. */
static uint64_t ready_since[THREADS];
static struct sleep {
    uint64_t idle_since;
    bool told;
} sleeps[CPUS_MAX];

static uint64_t *since_of(const struct thread *thread)
{
    return &ready_since[((uint64_t)thread * 0x9e3779b97f4a7c15ull >> 40) % THREADS];
}

void explore_ready(const struct thread *thread)
{
    if (__atomic_load_n(&explore_on, __ATOMIC_RELAXED))
        __atomic_store_n(since_of(thread), arch_clock(), __ATOMIC_RELAXED);
}

void explore_idles(const struct cpu *cpu)
{
    sleeps[cpu->index].idle_since = arch_clock();
}

/* One of the queue that may run on `cpu`, and was ready before `until`; its lock held. */
static const struct thread *find_waiting(const struct run_queue *queue, const struct cpu *cpu, uint64_t until)
{
    for (uint32_t priority = 0; priority < TARN_PRIORITIES; priority++) {
        const struct list *head = &queue->ready[priority];
        for (struct list *link = head->next; link != head; link = link->next) {
            const struct thread *thread = list_object(link, struct thread, link);
            uint64_t since = __atomic_load_n(since_of(thread), __ATOMIC_RELAXED);
            if (atomic_load(&thread->affinity) & bit_of(cpu) && !atomic_load(&thread->on_cpu) && since &&
                since < until)
                return thread;
        }
    }
    return NULL;
}

static void look_into(struct cpu *victim, const struct cpu *cpu, uint64_t until)
{
    uint32_t tid = 0;
    spin_lock(&victim->run_queue.lock);
    const struct thread *thread = find_waiting(&victim->run_queue, cpu, until);
    if (thread)
        tid = thread->tid;
    spin_unlock(&victim->run_queue.lock);
    if (!tid || sleeps[cpu->index].told)
        return;
    sleeps[cpu->index].told = true;
    log_line("explore: idle: processor %u slept, and thread %u was ready in the queue of processor %u",
             cpu->index, tid, victim->index);
    explore_found();
}

void explore_wakes(const struct cpu *cpu)
{
    if (!__atomic_load_n(&explore_on, __ATOMIC_RELAXED))
        return;
    for (uint32_t i = 0; i < cpu_count; i++)
        look_into(&cpus[i], cpu,
                  i == cpu->index ? arch_clock() - cpu_count * explore_turn_most()
                                  : sleeps[cpu->index].idle_since);
}

#endif
