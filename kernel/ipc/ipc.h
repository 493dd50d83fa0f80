/* ipc.h - shared by endpoint.c, reply.c, notification.c, ipc_fast.c, fault.c and user_copy.c. */
#pragma once

#include <kernel/cpu/cpu.h>
#include <kernel/ipc/endpoint.h>
#include <stdint.h>
#include <tarn/abi.h>
#include <tarn/syscall_kernel.h>

/* Unique since boot: the CPU in the top byte, then a count. */
static inline uint64_t ipc_new_call_id(void)
{
    return ++this_cpu()->next_call_id;
}

static inline bool syscall_is_message(uint32_t number)
{
    return number - SYS_ipc_call <= SYS_ipc_reply_to - SYS_ipc_call;
}

/* The cases that the fast path does not handle. */
int64_t ipc_call_general(cap_t slot);
int64_t ipc_reply_receive_general(uint64_t slot); /* may have IPC_CLOSE_SENT */

/* Sends a faulting thread's prepared message to a thread that waits for it, and switches to that thread on
 * this CPU; self's trap frame is then out of reach. `*where` holds the endpoint with a reference, and may
 * change. False: nothing was done. */
bool ipc_send_fault_fast(struct thread *self, struct endpoint **where);
/* fault.c: the current thread waits for its pager. `request` is from a space_fault that returned
 * FAULT_ASK_PAGER; drops its reference. `direct`: try ipc_send_fault_fast first. False: the pager is dead. */
struct fault_request;
bool fault_ask_pager(const struct fault_request *request, uint64_t since, bool direct);
/* The kernel's message about `from`, to which `to` must reply. */
void ipc_put_fault_message(struct thread *from, struct thread *to);

/* Replies to `target` with the message in self's trap frame. 0: the caller must pass *woken to sched_wake.
 * -E_DEAD: the target no longer waits. An error of capabilities: nothing has changed. */
int64_t ipc_send_reply(struct thread *self, struct reply_target target, struct thread **woken);
/* Replies to self's reply_target, and clears it unless the capabilities cannot be transferred. */
int64_t ipc_answer_own(struct thread *self, struct thread **woken);

/* scarce.c: the current thread's fault or user copy found no frame; no locks held. True: a program is ending;
 * the thread waits for a moment and retries (or belongs to it). False: there is no program to end. */
bool scarce_wait(struct thread *self);

/* Writes the bits as a message to a thread whose wait is over. */
void ipc_put_notification(struct thread *to, uint64_t bits);
/* Delivers a notification's bits to its bound thread, if there are any and the thread waits to receive. The
 * caller holds a reference. */
void notification_deliver_bound(struct notification *notification, struct thread *thread);
