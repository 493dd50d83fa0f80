/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/endpoint.h - synchronous messages.
 *
 * An endpoint is a lock and two queues, of which at least one is empty: threads that want to send, and
 * threads that wait to receive. A message is never stored: it goes from the sender's frame to the receiver's.
 *
 * A caller that waits for its answer is in no queue. Who took its message holds (caller, call_id), which is
 * checked by number, unique since boot, under a lock that only waits for an answer use (thread.h, Answers).
 * So a caller can die or give up at any time without telling anybody, and an answer that comes too late, or
 * for the second time, finds nobody.
 *
 * An endpoint is dead once no capability with RIGHT_RECEIVE is left: whoever waits on it, and whoever comes,
 * gets E_DEAD.
 *
 * endpoint.c: the general path. ipc_fast.c: the two cases that matter. reply.c: saved replies.
 */
#ifndef KERNEL_ENDPOINT_H
#define KERNEL_ENDPOINT_H

#include <kernel/list.h>
#include <kernel/lock.h>
#include <stdatomic.h>
#include <stdint.h>
#include <tarn/abi.h>

struct thread;
struct endpoint {
    struct spinlock lock; /* survives free and reuse: slab.h */
    _Atomic uint32_t references;
    _Atomic uint32_t receive_caps; /* capabilities with RIGHT_RECEIVE */
    uint32_t number;               /* in the trace; constant */
    /* under lock */
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
/* The capability table's part: receive rights come and go. */
void endpoint_add_receive_cap(struct endpoint *endpoint);
void endpoint_drop_receive_cap(struct endpoint *endpoint);
uint64_t endpoint_count_live(void);

/* Who asked, in the hands of who answers. Belongs to the thread (or reply object) that holds it.
 *
 * While the caller waits for this answer it is alive, and the target needs no reference to it. Whoever ends
 * that wait otherwise (finish_wait in wait.c) takes a reference in the target's name, which goes when the
 * target does: in ipc_fail_caller, or when its own thread fails to answer it (ipc_answer_own). An answer that
 * finds its caller ends the target, too. So messages cost no reference, and a target never outlives the
 * caller's memory. */
struct reply_target {
    struct thread *caller; /* NULL: nobody waits */
    uint64_t call_id;
};

/* A saved reply: what a CAP_REPLY names. */
struct reply {
    struct spinlock lock;
    _Atomic uint32_t references;
    /* Constant but for `caller`, which becomes NULL when it has been answered, before that user's reference
     * goes. */
    struct reply_target target;
};
void reply_put(struct reply *reply); /* the last one answers E_DEAD, if nobody has answered */
uint64_t reply_count_live(void);

/* Ends a target, and its call with an error if the caller still waits. It may name nobody. */
void ipc_fail_caller(struct reply_target target, int64_t error);

/* A kernel message on behalf of the current thread, which waits until it is answered (fault.c): what it says,
 * then whom it goes to. -E_DEAD: nobody will ever answer. */
void ipc_prepare_fault(struct thread *self, uint64_t label, const uint64_t words[IPC_WORDS]);
int ipc_send_fault(struct endpoint *endpoint);

#endif
