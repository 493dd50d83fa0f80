/* lock_inline.h - the uncontended path of kernel/cpu/lock.h; the contended one is in lock.c. */
#pragma once

#include <arch/cpu.h>
#include <kernel/cpu/lock_watch.h>
#include <kernel/explore/explore.h>
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

static inline bool spin_held(const struct spinlock *lock)
{
    return atomic_load_explicit(&lock->held, memory_order_relaxed) == spin_owner();
}
