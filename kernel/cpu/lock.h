/*
 * lock.h - spinlocks with lock classes.
 *
 * The kernel runs with interrupts off, so only other CPUs contend for a lock. An uncontended acquisition is
 * one inlined atomic operation. A contended one spins in lock.c, handles TLB shootdown requests meanwhile
 * (the holder may be waiting for this CPU's), and logs lock_contended. Classes are registered statically
 * and are part of every statedump.
 *
 * Of a sampled class, one of N acquisitions is counted, and all waits (lock_watch.h).
 *
 * Lock order, outermost first:
 *   futex bucket -> space -> memory object -> notification -> endpoint -> thread -> capability table
 *   -> run queue -> timer queue -> slab -> frame cache/buddy.
 * The trace's, outside of these: trace -> trace sites -> memory object.
 * Of two locks of one class, the lower address comes first. No object is destroyed while a lock is held.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct lock_class {
    const char *name;
    uint32_t number;            /* in the trace; assigned by lock_init */
    uint32_t sample_every;      /* one of N acquisitions is sampled; 0: none. May change at any time. */
    _Atomic uint64_t contended; /* contended acquisitions */
    bool is_event;              /* programs wait for it, but it has no holder: see state_lock_class */
};
/* The same, for readers beside trace_control(), which changes it. */
static inline uint32_t lock_sample_every(const struct lock_class *class)
{
    return __atomic_load_n(&class->sample_every, __ATOMIC_RELAXED);
}
#define LOCK_CLASSES_MAX 64u
extern bool lock_is_watched; /* any class of the kernel's is sampled; sites follow (trace/sites.c) */

extern struct lock_class lock_class_first[], lock_class_last[]; /* the section that LOCK_CLASS fills */
/* Defines a class. */
#define LOCK_CLASS(variable, text) \
    struct lock_class variable __attribute__((section(".lock_classes"), used, aligned(8))) = {.name = text}

struct spinlock {
    _Atomic uint32_t held; /* spin_owner() of the CPU that holds it; 0: free */
    uint32_t note;         /* 1 + place of the holder's note (lock_watch.h); 0: none */
    struct lock_class *class;
};
#define SPINLOCK(lock_class)  \
    {                         \
        .class = (lock_class) \
    }

void lock_init(void); /* numbers the classes; before two CPUs take locks */
struct system_lock_class;
/* Lists the classes from `index` on; returns how many. */
uint64_t lock_class_list(uint64_t index, struct system_lock_class *to, uint64_t capacity);

void spin_init(struct spinlock *lock, struct lock_class *class);
static inline void spin_lock(struct spinlock *lock);
static inline bool spin_try_lock(struct spinlock *lock);
static inline void spin_unlock(struct spinlock *lock);
static inline bool spin_held(const struct spinlock *lock); /* by this CPU; for asserts */
struct cpu *spin_holder(const struct spinlock *lock);      /* for the debugger; NULL: free, or no lock */

#include <kernel/cpu/lock_inline.h>
