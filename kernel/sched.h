/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/sched.h - which thread runs where.
 *
 * Each processor has a queue of ready threads: 32 FIFO lists by priority and a bitmap, under its own lock.
 * The running thread is not in the queue. A thread that wakes up goes to its last processor if that is idle,
 * else to an idle one, else to where it preempts, else to the shortest queue, always within its affinity. An
 * idle processor takes ready threads from others before it sleeps.
 *
 * The scheduler takes one queue's lock at a time and calls nothing while it holds it, so it is
 * innermost but for the timers. It runs on the host too: kernel/test/host/sched_test.c.
 */
#ifndef KERNEL_SCHED_H
#define KERNEL_SCHED_H

#include <kernel/list.h>
#include <kernel/lock.h>
#include <tarn/abi.h>

#define SCHED_SLICE_MS      10
#define SCHED_IDLE_PRIORITY (-1)

struct cpu;
struct thread;

struct run_queue {
    struct spinlock lock;
    /* under lock; bitmap and length are also read without it, as hints */
    _Atomic uint32_t bitmap; /* bit p: list p is not empty */
    _Atomic uint32_t length;
    struct list ready[TARN_PRIORITIES];
    /* Written by its processor, read by those who wake threads. A processor writes it under the lock, or
     * (ipc_fast.c) writes it and then looks at the bitmap; who enqueues writes the bitmap under the lock,
     * then looks at this: one of them sees the other (sequentially consistent). */
    _Atomic int32_t running; /* priority of the thread that runs, SCHED_IDLE_PRIORITY when idle */
};

/* Processors that sleep and would rather not; a bit is cleared by whoever sends work there. */
extern _Atomic uint64_t sched_idle_cpus;
extern _Atomic uint64_t sched_online_cpus;

void sched_init_cpu(struct cpu *cpu);
/* Makes a thread that no list holds ready, and gets it a processor. Its state was blocked, and its wait is
 * over. */
void sched_wake(struct thread *thread);
/* Gets another processor for a thread that is ready, in no list, and may not run where it was. */
void sched_send(struct thread *thread);
/* The same on this processor if it may, at the head of its list: the running thread is about to block. */
void sched_hand_over(struct thread *thread);
/* Chooses what runs next on this processor and switches to it; current may be blocked, to be stopped, or
 * ready. */
void sched_reschedule(void);
/* Puts the running thread behind others of its priority at the next kernel exit. */
void sched_yield(void);
/* Makes sure that `thread` soon passes its processor's kernel exit, if it runs. */
void sched_kick(struct thread *thread);
/* Changes take effect at once, wherever the thread is. */
void sched_set_priority(struct thread *thread, uint32_t priority);
void sched_set_affinity(struct thread *thread, uint64_t cpus);
extern uint64_t sched_slice; /* ticks; constant once a processor was set up */
/* The running thread has used up its slice. */
void sched_slice_end(void);
/* Called by the switch: from now on `thread` belongs to this processor. */
void sched_move_here(struct thread *thread);

#endif
