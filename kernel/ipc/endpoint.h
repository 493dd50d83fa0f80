/*
 * endpoint.h - synchronous messages.
 *
 * An endpoint is a lock and two queues, at least one of which is empty: threads that wait to send, and
 * threads that wait to receive. Messages are not buffered: they go from trap frame to trap frame.
 *
 * A caller that waits for its reply is in no queue. The receiver of its message holds (caller, call_id).
 * The id is unique since boot, and checked under a lock that only waits for replies use (thread.h,
 * Replies). So a caller can die or give up without notifying anyone, and a late or second reply finds
 * no caller.
 *
 * An endpoint is dead when no capability with RIGHT_RECEIVE is left. Threads that wait on it, and later
 * callers, get E_DEAD.
 *
 * endpoint.c: the general path. ipc_fast.c: the two most important cases. reply.c: replies and saved
 * replies.
 */
#pragma once

#include <kernel/cpu/lock.h>
#include <kernel/lib/list.h>
#include <kernel/sched/thread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <tarn/abi.h>

struct endpoint {
    struct spinlock lock; /* survives free and reuse: slab.h */
    _Atomic uint32_t references;
    _Atomic uint32_t receive_caps; /* capabilities with RIGHT_RECEIVE */
    uint32_t number;               /* in the trace; constant */
    /* under lock: */
    bool dead;
    struct list senders;   /* thread.link: callers, senders, faulting threads */
    struct list receivers; /* thread.link */
};

struct endpoint *endpoint_new(void); /* one reference; NULL: no memory */
static inline void endpoint_get(struct endpoint *endpoint)
{
    atomic_fetch_add_explicit(&endpoint->references, 1, memory_order_relaxed);
}
void endpoint_put(struct endpoint *endpoint);

/* A saved reply: the object of a CAP_REPLY. */
struct reply {
    struct spinlock lock;
    _Atomic uint32_t references;
    /* Constant, but `caller` becomes NULL with the reply, before that user drops its reference. */
    struct reply_target target;
};
void reply_put(struct reply *reply); /* the last one fails the call with E_DEAD if there was no reply */

/* Drops a target, and fails the call if the caller still waits. The target may be empty. */
void ipc_fail_caller(struct reply_target target, int64_t error);

/* Send a kernel message on behalf of the current thread, which then waits for the reply (fault.c): prepare,
 * then send. -E_DEAD: there will be no reply. */
void ipc_prepare_fault(struct thread *self, uint64_t label, const uint64_t words[IPC_WORDS]);
int ipc_send_fault(struct endpoint *endpoint);
