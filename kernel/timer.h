/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/timer.h - deadlines: time-outs of threads, ends of slices, heartbeats of the trace.
 *
 * Each processor has a queue of the deadlines that were set on it (a pairing heap, own lock) and one hardware
 * timer, which timer_program() sets to the earliest of: the queue's root, the end of the running thread's
 * slice, and what comes periodically: the heartbeat of the trace, samples (profile.h). It is never set later
 * than needed, and left alone when it is early enough: an interrupt too many costs less than setting it at
 * every switch.
 *
 * A timer only says which thread to look at. Whether that thread's wait is still the one whose deadline
 * passed is decided by thread_expire() (thread.c) under the lock of the wait, so removing a timer late is
 * harmless.
 */
#ifndef KERNEL_TIMER_H
#define KERNEL_TIMER_H

#include <kernel/lock.h>
#include <stdbool.h>
#include <stdint.h>

#define TIMER_NEVER (~0ull)

struct cpu;
struct timer {         /* inside struct thread; everything under the lock of the queue it is in */
    uint64_t deadline; /* ticks */
    struct timer *child, *sibling;
    struct timer *previous;      /* left sibling, or parent of a first child */
    _Atomic(struct cpu *) where; /* processor whose queue it is in; NULL: in none */
};

struct timer_queue {
    struct spinlock lock;
    struct timer *root; /* under lock */
    /* touched by its processor only */
    uint64_t programmed; /* what the hardware was told */
    uint64_t slice_end;  /* of the running thread; TIMER_NEVER while idle */
    uint64_t periodic;   /* the earlier of the next two */
    uint64_t heartbeat;  /* when the trace wants to hear from this processor */
    uint64_t sample;     /* when it is to be sampled; TIMER_NEVER: not, or not before it wakes */
};

extern uint64_t clock_hz; /* ticks per second */

struct arch_clock_rate;
void timer_init(struct arch_clock_rate *rate); /* boot processor: finds the clock's rate; conversions */
void timer_init_cpu(struct cpu *cpu);
uint64_t timer_ticks(uint64_t nanoseconds); /* rounded up; TARN_FOREVER gives TIMER_NEVER */
uint64_t timer_nanoseconds(uint64_t ticks);
void timer_add(struct timer *timer, uint64_t deadline); /* to this processor's queue */
void timer_remove(struct timer *timer);                 /* wherever it is, if anywhere */
void timer_program(void);                               /* this processor's hardware */
void timer_set_sample(uint64_t deadline);               /* this processor's; timer_program() follows */
/* Takes the earliest timer of this processor that is due at `now`; NULL: none. */
struct timer *timer_take_due(uint64_t now);

#endif
