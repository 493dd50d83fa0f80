/*
 * notification.h - asynchronous signals: bits that any thread sets and one thread takes.
 *
 * `bits` is atomic, because a thread that is about to block in a receive reads its bound notification
 * without the lock. The thread becomes visible as a waiter and then reads the bits; a signal sets the bits
 * and then looks for the waiter. Both orders are sequentially consistent, so one sees the other; the
 * exchange of the bits with 0 decides which delivers them.
 */
#pragma once

#include <kernel/cpu/lock.h>
#include <kernel/lib/list.h>
#include <stdatomic.h>
#include <stdint.h>

#define NOTIFICATION_BITS (~0ull >> 1) /* results are not negative */

struct thread;
struct notification {
    struct spinlock lock; /* survives free and reuse: slab.h */
    _Atomic uint32_t references;
    uint32_t number;       /* in the trace; constant */
    _Atomic uint64_t bits; /* set by any thread; taken by exchange */
    /* under lock: */
    struct list waiters; /* thread.link */
    struct thread
        *bound; /* its receives end with a signal; it holds a reference, and unbinds before it dies */
};

struct notification *notification_new(void); /* one reference; NULL: no memory */
static inline void notification_get(struct notification *notification)
{
    atomic_fetch_add_explicit(&notification->references, 1, memory_order_relaxed);
}
void notification_put(struct notification *notification);
/* The caller holds a reference, and no object's lock. */
void notification_signal(struct notification *notification, uint64_t bits);
/* Sets which notification and bits an object signals, under its lock. -E_BAD_ARGUMENT: no such bits. */
int64_t notification_set(struct notification **to, uint64_t *to_bits, struct spinlock *lock,
                         struct notification *notification, uint64_t bits);
