/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/ipc.h - what the files of IPC share: endpoint.c, reply.c, notification.c, ipc_fast.c.
 */
#ifndef KERNEL_IPC_H
#define KERNEL_IPC_H

#include <kernel/cpu.h>
#include <kernel/endpoint.h>
#include <stdint.h>
#include <tarn/abi.h>

struct notification;
struct thread;

/* Unique since boot: the processor in the top byte, then a count. */
static inline uint64_t ipc_new_call_id(void)
{
    return ++this_cpu()->next_call_id;
}

/* What the fast path leaves over. */
int64_t ipc_call_general(cap_t slot);
int64_t ipc_reply_receive_general(cap_t slot);

/* A faulting thread's prepared message goes straight to a thread that waits for it, on this processor; then
 * that is current, and self's frame out of reach. `*where` names the endpoint and holds a reference; it may
 * change meanwhile. False: nothing has happened. */
bool ipc_send_fault_fast(struct thread *self, struct endpoint **where);
/* The kernel's message about `from`, whom `to` shall answer. */
void ipc_put_fault_message(struct thread *from, struct thread *to);

/* The message in self's frame answers `target`: 0 and the woken caller, which is then the caller's of this
 * function to wake; -E_DEAD if it waits no more; an error of capabilities, and then nothing has happened. */
int64_t ipc_answer(struct thread *self, struct reply_target target, struct thread **woken);
/* The same of self's own target, which is used up unless capabilities fail. */
int64_t ipc_answer_own(struct thread *self, struct thread **woken);

/* Bits become the message of a thread whose wait is over. */
void ipc_put_notification(struct thread *to, uint64_t bits);
/* Gives the bits of a notification to the thread bound to it, if there are any and it waits to receive. The
 * caller holds a reference to the notification. */
void notification_deliver_bound(struct notification *notification, struct thread *thread);

#endif
