/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock_spin.h - whether a thread spins for a mutex before it sleeps, by what the table `lock_spins` says
 * (boot option feedback=spin; docs/feedback.md).
 *
 * A lock that is handed to a sleeping thread is idle from the wake-up until that thread runs. If what is left
 * of a hold when another thread comes is usually longer than that, waiters sleep at once. Otherwise they spin
 * first, as without the option (SPINS_MAX in lock.c). With one CPU no thread spins. spin_decision.h compares.
 *
 * Hold times and wake-ups are measured only where threads had to wait, one of SPIN_EVERY of them, so an
 * uncontended lock costs nothing. All but the measurement itself is done before the lock is taken. The row of
 * the CPU on which such a thread begins to wait decides, for the whole process. All is counted since boot, so
 * a lock whose holds change gets another decision once there are as many new ones as old ones.
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
#define SPIN_EVERY       16u /* of as many waits, and wake-ups, one is measured */

static inline bool spins_by_table(void)
{
    return __builtin_expect(__atomic_load_n(&arch_trace_info()->lock_feedback, __ATOMIC_RELAXED) != 0, 0);
}

/* The caller is about to wait. */
struct spin_choice {
    bool sleeps;       /* at once */
    bool is_looked_at; /* end_spin_wait() must follow */
};
struct spin_choice begin_spin_wait(const uint32_t *word);
/* The caller has taken the lock. */
void end_spin_wait(uint32_t *word, bool slept);
void count_spin_hold(const uint32_t *word, uint64_t held);
/* The caller is about to wake a waiter; the caller was woken. */
void note_spin_wake(const uint32_t *word);
void count_spin_wake(const uint32_t *word);

#endif
