/*
 * sched.h - the scheduler: which thread runs where.
 *
 * Each CPU has a run queue of ready threads: 32 FIFO lists by priority and a bitmap, under its own lock.
 * The running thread is not in it. A thread that wakes up goes, within its affinity, to its last CPU if
 * idle, else to another idle CPU, else to one where it preempts, else to the shortest queue. An idle CPU
 * takes ready threads from others before it sleeps, and is interrupted if one is queued elsewhere after that.
 *
 * The scheduler holds one queue's lock at a time and calls nothing else meanwhile, so this lock is
 * innermost but for the timers'. It also runs on the host: tests/unit/kernel/sched_test.c.
 */
#pragma once

#include <kernel/cpu/lock.h>
#include <tarn/abi.h>

#define SCHED_SLICE_MS      10
#define SCHED_IDLE_PRIORITY (-1)

extern _Atomic uint64_t sched_idle_cpus; /* idle and wanting work; a CPU that sends work clears the bit */
extern _Atomic uint64_t sched_online_cpus;

void sched_init_cpu(struct cpu *cpu);
/* Makes a thread ready and gives it a CPU. Its wait is over, and it is in no list. */
void sched_wake(struct thread *thread);
/* Gives another CPU to a ready thread that is in no list and may not run where it was. */
void sched_place(struct thread *thread);
/* sched_wake on this CPU if affinity allows, at the head of its list: the running thread is about to
 * block. */
void sched_hand_over(struct thread *thread);
/* Chooses and switches to what runs next. Current may be blocked, ready, or about to stop. */
void sched_reschedule(void);
/* Puts the running thread behind others of its priority at the next kernel exit. */
void sched_yield(void);
/* Makes `thread`, if it runs, pass its CPU's kernel exit soon. */
void sched_kick(struct thread *thread);
void sched_set_priority(struct thread *thread, uint32_t priority);
void sched_set_affinity(struct thread *thread, uint64_t cpus);
extern uint64_t sched_slice; /* ticks; constant once a CPU is set up */
void sched_slice_end(void);
