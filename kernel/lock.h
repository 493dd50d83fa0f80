/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/lock.h - spinlocks, each of a class.
 *
 * The kernel runs with interrupts off, so a lock is only ever contended by other processors. Taking a free
 * lock is one atomic operation inline; the wait is out of line (lock.c): it counts its turns, answers
 * shootdown requests while it spins (the holder may be waiting for our answer), and logs lock_contended with
 * ticks, spins, who held the lock and call chain. Classes are registered statically and are part of every
 * statedump.
 *
 * Of a class that is watched every so many-th acquisition of a processor is logged: lock_acquired with how
 * many they were and a call chain, and lock_held when that one is let go. What it costs where nothing is
 * watched, and why acquisitions are not counted then, stands in kernel/README.md.
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
    uint32_t number; /* in the trace; given at registration */
    /* Of so many acquisitions one is logged; 0: none. Changed at any time, and not atomic: so that the
     * compiler may look once for taking and letting go. They may disagree, see spin_note_released. */
    uint32_t watch;
    uint64_t watched_since;     /* ticks: when it was set */
    _Atomic uint64_t contended; /* how often somebody had to wait */
    bool is_event;              /* programs wait for it, but nobody ever holds it: see state_lock_class */
};
#define LOCK_CLASSES_MAX 64u

/* Defines a class and puts it into the section that lock_class_first..last walk. */
#define LOCK_CLASS(variable, text) \
    struct lock_class variable __attribute__((section(".lock_classes"), used, aligned(8))) = {.name = text}

struct spinlock {
    _Atomic uint32_t held; /* spin_owner() of the processor that holds it; 0 free */
    uint32_t reserved;
    struct lock_class *class;
    uint64_t
        since; /* ticks, when that is to be logged; or 0, or left from when the class was watched before */
};
#define SPINLOCK(lock_class)  \
    {                         \
        .class = (lock_class) \
    }

void lock_init(void); /* gives the classes their numbers; before any lock is taken by two processors */
/* Sets `watch` of a class (LOCK_CLASS_ALL: of all), those of programs included. -E_NOT_FOUND. */
#define LOCK_CLASS_ALL (~0ull)
int lock_watch(uint64_t number, uint32_t every);
void lock_class_log(const struct lock_class *class); /* state_lock_class */
void lock_class_for_each(void (*visit)(struct lock_class *class, void *context), void *context);

void spin_init(struct spinlock *lock, struct lock_class *class);
static inline void spin_lock(struct spinlock *lock);
static inline bool spin_try_lock(struct spinlock *lock);
static inline void spin_unlock(struct spinlock *lock);
static inline bool spin_held(const struct spinlock *lock); /* by this processor: for asserts */
struct cpu *spin_holder(const struct spinlock *lock); /* for the debugger; NULL: nobody, or this is no lock */

#include <kernel/lock_inline.h>
#endif
