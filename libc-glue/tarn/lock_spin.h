/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock_spin.h - whether a thread spins for a mutex before it sleeps, by what the table `lock_spins` says
 * (boot option feedback=spin; docs/feedback.md).
 *
 * A lock that is handed to a sleeping thread is idle from the wake-up until that thread runs. If what is left
 * of a hold when another thread comes is usually longer than that, waiters sleep at once. Otherwise they spin
 * first, as without the option (SPINS_MAX in lock.c). With one CPU no thread spins. spin_decision.h compares.
 *
 * Hold times and wake-ups are measured only where threads had to wait, so an uncontended lock costs nothing.
 * First one of SPIN_EVERY_MIN waits of a thread is measured. Each hold that is as the decision expects
 * doubles that distance, up to SPIN_EVERY_MAX, and another hold resets it (spin_decision.h). The distances of
 * all locks of the process are about the smallest one. While the lock is held only the clock is read: what is
 * measured is counted after the release. A lock has one row, which decides for all threads of the process.
 * All is counted since boot, so a lock whose holds change gets another decision once there are as many new
 * ones as old ones.
 *
 * The process remembers 16 locks by a hash of their addresses; two that meet there forget each other. Its
 * words are read and written without a lock: a lost update delays a decision. Programs can write to the
 * tables. A false row makes threads sleep or spin in vain, no more: both end.
 */
#ifndef LIBC_GLUE_LOCK_SPIN_H
#define LIBC_GLUE_LOCK_SPIN_H

#include <arch/trace.h>
#include <stdbool.h>
#include <stdint.h>

#define SPIN_PLACES_BITS 4u

static inline bool spins_by_table(void)
{
    return __builtin_expect(__atomic_load_n(&arch_trace_info()->lock_feedback, __ATOMIC_RELAXED) != 0, 0);
}

/* The caller is about to wait. */
struct spin_choice {
    bool sleeps;      /* at once */
    bool is_measured; /* once it has the lock, time_contended_hold() must follow (lock_trace.h) */
};
extern bool all_locks_spin; /* no lock of the process is one for which threads sleep at once; a hint */
struct spin_choice choose_spin_wait(const uint32_t *word);
/* waits_left: the thread's, to the next one that is measured. */
static inline struct spin_choice begin_spin_wait(const uint32_t *word, uint32_t *waits_left)
{
    if (!*waits_left || !__atomic_load_n(&all_locks_spin, __ATOMIC_RELAXED))
        return choose_spin_wait(word);
    --*waits_left;
    return (struct spin_choice){0};
}
/* How a thread whose wait was measured got the lock, and for how many ticks it then held it. */
enum spin_wait { SPIN_WAIT_NONE, SPIN_WAIT_SPUN, SPIN_WAIT_SLEPT };
struct spin_hold {
    uint64_t held;
    enum spin_wait wait; /* NONE: the wait was not measured */
};
/* The caller has released the lock, which may no longer exist: only its address is used. */
void count_spin_hold(const uint32_t *word, struct spin_hold hold);
/* The caller is about to wake a waiter. True: that is timed, and cancel_spin_wake() must follow if no thread
 * waited. */
bool begin_spin_wake(const uint32_t *word);
void cancel_spin_wake(const uint32_t *word);
/* The caller was woken. */
void count_spin_wake(const uint32_t *word);

#endif
