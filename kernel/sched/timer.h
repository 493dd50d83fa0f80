/*
 * timer.h - deadlines: time-outs of threads, ends of time slices, heartbeats of the trace.
 *
 * Each CPU has a queue of the deadlines that were set on it (a pairing heap, own lock) and one hardware
 * timer. timer_program() sets that to the earliest of: the queue's root, the end of the time slice, and the
 * periodic deadlines (trace heartbeat, samples of profile.h). A hardware timer that is early enough stays: an
 * extra interrupt costs less than setting it at every switch.
 *
 * A timer only says which thread to check. thread_expire() decides under the lock of the wait whether that
 * deadline still counts, so removing a timer late is harmless.
 */
#pragma once

#include <kernel/cpu/lock.h>
#include <stdbool.h>
#include <stdint.h>

#define TIMER_NEVER (~0ull)

struct cpu;
struct timer {         /* inside struct thread; under the lock of the queue it is in */
    uint64_t deadline; /* ticks */
    struct timer *child, *sibling;
    struct timer *previous;      /* left sibling, or the parent of a first child */
    _Atomic(struct cpu *) where; /* CPU whose queue it is in; NULL: none */
};

extern uint64_t clock_hz; /* ticks per second */

struct arch_clock_rate;
void timer_init(struct arch_clock_rate *rate); /* on the boot CPU: determines the clock's rate */
void timer_init_cpu(struct cpu *cpu);
uint64_t timer_ticks(uint64_t nanoseconds);                  /* rounded up; TARN_FOREVER gives TIMER_NEVER */
static inline uint64_t timer_ticks_ms(uint64_t milliseconds) /* an interval; 0 before timer_init */
{
    return clock_hz / 1000 * milliseconds;
}
uint64_t timer_nanoseconds(uint64_t ticks);
void timer_add(struct timer *timer, uint64_t deadline); /* to this CPU's queue */
void timer_remove(struct timer *timer);                 /* from the queue it is in, if any */
void timer_program(void);                               /* sets this CPU's hardware timer */
/* On this CPU; call timer_program() afterwards. */
void timer_set_sample(uint64_t deadline);
void timer_set_heartbeat(uint64_t deadline);
/* Removes and returns this CPU's earliest timer that is due at `now`; NULL: none. */
struct timer *timer_take_due(uint64_t now);
