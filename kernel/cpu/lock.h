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

#include <kernel/hook.h>
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
struct cpu;
/* diagnosis/span.c: who runs on the CPU that holds a lock (NULL: none), for events. UINT32_MAX: nobody. */
struct lock_holder {
    uint32_t tid, pid, cpu;
};
HOOK(lock_holder_of, struct lock_holder, const struct cpu *cpu);
struct cpu *spin_holder(const struct spinlock *lock); /* for the debugger; NULL: free, or no lock */

/* The uncontended path; the contended one is in lock.c. */
#include <arch/cpu.h>
#include <kernel/cpu/explore.h>
#include <kernel/cpu/lock_watch.h>
#include <trace/ring/ring.h>

void spin_lock_contended(struct spinlock *lock); /* lock.c: waits for the lock, and logs */

/* Not 0, and different for each CPU: `cpus` is an array in the kernel's data. */
static inline uint32_t spin_owner(void)
{
    return (uint32_t)(uintptr_t)this_cpu();
}

/* Whether a class is sampled (lock_watch.h): one instruction. */
static inline __attribute__((always_inline)) bool LOCKS_WATCHED(void)
{
#ifdef TRACE_TESTED
    return lock_is_watched;
#else
    return arch_trace_site(TRACE_ID(TRACE_CLASS_COUNT - 1, TRACE_SITE_LOCKS));
#endif
}

/* Takes the lock if it is free, without logging. */
static inline bool spin_take_free(struct spinlock *lock)
{
    uint32_t free = 0;
    if (__builtin_expect(!atomic_compare_exchange_strong_explicit(&lock->held, &free, spin_owner(),
                                                                  memory_order_relaxed, memory_order_relaxed),
                         0))
        return false;
    /* Acquire: pairs with the release in spin_unlock, which publishes what the lock protects. As a fence it
     * also orders loads from before the lock (ipc_fast.c). */
    atomic_thread_fence(memory_order_acquire);
    return true;
}

static inline __attribute__((always_inline)) bool spin_try_lock(struct spinlock *lock)
{
    if (__builtin_expect(!spin_take_free(lock), 0)) {
        ARCH_CALL_ASIDE(spin_count_failed, lock);
        return false;
    }
    explore_lock_taken(lock);
    if (LOCKS_WATCHED() && --this_lock_watch()->left < 0)
        ARCH_CALL_ASIDE(spin_note_tried, lock);
    return true;
}

static inline void spin_lock(struct spinlock *lock)
{
    explore_lock_wanted(lock);
    if (__builtin_expect(!spin_take_free(lock), 0)) {
        spin_lock_contended(lock);
        return;
    }
    explore_lock_taken(lock);
    if (LOCKS_WATCHED() && --this_lock_watch()->left < 0)
        spin_note_taken(lock);
}

/* Before the lock is released. */
static inline __attribute__((always_inline)) void spin_look_at_release(struct spinlock *lock)
{
    if (LOCKS_WATCHED() && this_lock_watch()->left < 0)
        ARCH_CALL_ASIDE(spin_note_released, lock);
}

static inline void spin_unlock(struct spinlock *lock)
{
    spin_look_at_release(lock);
    explore_lock_released(lock);
    /* Release: pairs with the acquire of the next holder. */
    atomic_store_explicit(&lock->held, 0, memory_order_release);
}

/* For a caller whose critical section ends with arch_fence_after_store: that fence replaces the release. */
static inline __attribute__((always_inline)) void spin_unlock_fenced(struct spinlock *lock)
{
    spin_look_at_release(lock);
    explore_lock_released(lock);
    atomic_store_explicit(&lock->held, 0, memory_order_relaxed);
}

/* By this CPU; for asserts. */
static inline bool spin_held(const struct spinlock *lock)
{
    return atomic_load_explicit(&lock->held, memory_order_relaxed) == spin_owner();
}
