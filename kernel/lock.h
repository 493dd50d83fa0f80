/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/lock.h - spinlocks, each of a class.
 *
 * The kernel runs with interrupts off, so a lock is only ever contended by other processors. Taking a free
 * lock is one atomic operation inline; the wait is out of line (lock.c): it counts its turns, answers
 * shootdown requests while it spins (the holder may be waiting for our answer), and logs lock_contended with
 * ticks, spins and call chain. Classes are registered statically and are part of every statedump; a class
 * that is watched also logs lock_held.
 *
 * Lock order, outermost first:
 *   futex bucket -> space -> memory object -> notification -> endpoint -> thread -> capability table
 *   -> run queue -> timer queue -> slab -> frame cache/buddy.
 * Two of one class: lower address first. No object is destroyed while a lock is held.
 */
#ifndef KERNEL_LOCK_H
#define KERNEL_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct lock_class {
    const char *name;
    uint32_t number;            /* in the trace; given at registration */
    bool watched;               /* log hold times too */
    _Atomic uint64_t contended; /* how often somebody had to wait */
};
/* Defines a class and puts it into the section that lock_class_first..last walk. */
#define LOCK_CLASS(variable, text) \
    struct lock_class variable __attribute__((section(".lock_classes"), used, aligned(8))) = {.name = text}

struct spinlock {
    _Atomic uint32_t held; /* spin_owner() of the processor that holds it; 0 free */
    uint32_t reserved;
    struct lock_class *class;
    uint64_t since; /* ticks, when the class is watched */
};
#define SPINLOCK(lock_class)  \
    {                         \
        .class = (lock_class) \
    }

void lock_init(void); /* gives the classes their numbers; before any lock is taken by two processors */
void lock_class_for_each(void (*visit)(struct lock_class *class, void *context), void *context);

void spin_init(struct spinlock *lock, struct lock_class *class);
static inline void spin_lock(struct spinlock *lock);
static inline bool spin_try_lock(struct spinlock *lock);
static inline void spin_unlock(struct spinlock *lock);
static inline bool spin_held(const struct spinlock *lock); /* by this processor: for asserts */
struct cpu *spin_holder(const struct spinlock *lock); /* for the debugger; NULL: nobody, or this is no lock */

#include <kernel/lock_inline.h>
#endif
