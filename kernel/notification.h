/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/notification.h - bits that are set by anyone and taken by one: asynchronous signals.
 *
 * `bits` is atomic, because a thread that is about to block in a receive looks at its bound notification
 * without taking the lock: it first becomes visible as a waiter, then looks at the bits; who signals sets
 * the bits first and then looks for the waiter. Both orders are sequentially consistent, so one of them sees
 * the other, and the exchange of bits with 0 decides who delivers.
 */
#ifndef KERNEL_NOTIFICATION_H
#define KERNEL_NOTIFICATION_H

#include <kernel/list.h>
#include <kernel/lock.h>
#include <stdatomic.h>
#include <stdint.h>

#define NOTIFICATION_BITS (~0ull >> 1) /* results are not negative */

struct thread;
struct notification {
    struct spinlock lock; /* survives free and reuse: slab.h */
    _Atomic uint32_t references;
    uint32_t number;       /* in the trace; constant */
    _Atomic uint64_t bits; /* set by anyone; taken by exchange */
    /* under lock */
    struct list waiters; /* thread.link */
    struct thread
        *bound; /* whose receives this ends; it holds a reference to us and undoes this before it dies */
};

struct notification *notification_new(void); /* one reference; NULL: no memory */
static inline void notification_get(struct notification *notification)
{
    atomic_fetch_add_explicit(&notification->references, 1, memory_order_relaxed);
}
void notification_put(struct notification *notification);
/* The caller holds a reference, and no object's lock. */
void notification_signal(struct notification *notification, uint64_t bits);
/* A thread unbinds what is bound to it (thread_finish). */
void notification_unbind(struct thread *thread);
uint64_t notification_count_live(void);

#endif
