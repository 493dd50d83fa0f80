/*
 * reply.c - replies of the thread that took a message, and saved replies.
 *
 * lock_caller decides, under the caller's reply_lock, whether the caller in a reply_target still waits for
 * this reply (thread.h, Replies). endpoint.h, reply_target, says why it may read the caller.
 */
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/ipc/cap.h>
#include <kernel/ipc/ipc.h>
#include <kernel/kernel.h>
#include <kernel/memory/slab.h>
#include <kernel/object/cap_table.h>
#include <kernel/sched/sched.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>
#include <trace/exception.h>
#include <trace/fault.h>
#include <trace/ipc.h>

static LOCK_CLASS(reply_class, "reply");
static LOCK_CLASS(reply_slab_class, "reply slab");

static void construct(void *object)
{
    struct reply *reply = object;
    spin_init(&reply->lock, &reply_class);
}

static struct slab reply_slab = SLAB("reply", struct reply, construct, &reply_slab_class);

/* ---- Replying ---- */

/* Returns false if the caller does not wait for this reply any more. */
static bool lock_caller(struct reply_target target)
{
    struct thread *caller = target.caller;
    spin_lock(&caller->reply_lock);
    /* Acquire: pairs with begin_wait, which stores wait_lock without the lock. If the thread is seen to
     * wait for a reply, call_id is that of this wait. */
    if (atomic_load_explicit(&caller->wait_lock, memory_order_acquire) == &caller->reply_lock &&
        caller->call_id == target.call_id)
        return true;
    spin_unlock(&caller->reply_lock);
    return false;
}

/* The reply to a fault is only a label: resume or end. The thread keeps its registers. */
static void reply_to_fault(struct thread *thread, uint64_t label)
{
    if (label == FAULT_REPLY_KILL)
        atomic_fetch_or(&thread->pending, PENDING_KILL);
    if (thread->fault_since)
        trace_fault_exit(thread->fault_address, arch_clock() - thread->fault_since, thread->fault_kind,
                         thread->tid);
    else
        trace_exception_exit(thread->fault_kind, label == FAULT_REPLY_KILL ? 2 : 1);
}

int64_t ipc_send_reply(struct thread *self, struct reply_target target, struct thread **woken)
{
    struct thread *caller = target.caller;
    if (!lock_caller(target))
        return -E_DEAD;
    uint64_t label = frame_label(&self->frame);
    if (caller->message_kind == MESSAGE_FAULT) {
        reply_to_fault(caller, label);
    } else {
        frame_set_caps(&caller->frame, 0);
        int error = frame_caps(&self->frame) ? cap_send(self, caller) : 0;
        if (error && error != -E_DEAD) { /* dead: the caller's space is dying, and the reply ends its wait */
            spin_unlock(&caller->reply_lock);
            return error;
        }
        frame_copy_message(&caller->frame, &self->frame);
        frame_set_badge(&caller->frame, 0);
        frame_set_result(&caller->frame, 0);
    }
    thread_end_wait(caller);
    spin_unlock(&caller->reply_lock);
    trace_ipc_reply(target.call_id, label, caller->tid);
    *woken = caller;
    return 0;
}

void ipc_fail_caller(struct reply_target target, int64_t error)
{
    struct thread *caller = target.caller;
    if (!caller)
        return;
    if (!lock_caller(target)) {
        thread_put(caller); /* the target's reference: something else ended the wait */
        return;
    }
    if (caller->message_kind != MESSAGE_FAULT) /* a fault is retried, and asks again */
        frame_set_result(&caller->frame, error);
    thread_end_wait(caller);
    spin_unlock(&caller->reply_lock);
    sched_wake(caller);
}

static void end_caller(struct thread *thread)
{
    ipc_fail_caller(thread->reply_target, -E_DEAD);
}
THREAD_END(1_calls, end_caller);

int64_t ipc_answer_own(struct thread *self, struct thread **woken)
{
    struct reply_target target = self->reply_target;
    int64_t error = ipc_send_reply(self, target, woken);
    if (error && error != -E_DEAD)
        return error;
    self->reply_target.caller = NULL;
    if (error)
        thread_put(target.caller); /* as in ipc_fail_caller */
    return error;
}

int64_t sys_ipc_reply(void)
{
    struct thread *self = current_thread(), *woken;
    if (!self->reply_target.caller)
        return -E_NO_REPLY;
    int64_t error = ipc_answer_own(self, &woken);
    if (!error)
        sched_wake(woken);
    return error;
}

/* ---- Saved replies ---- */

int64_t sys_ipc_save_reply(void)
{
    struct thread *self = current_thread();
    if (!self->reply_target.caller)
        return -E_NO_REPLY;
    struct reply *reply = slab_alloc(&reply_slab);
    if (!reply)
        return -E_NO_MEMORY;
    reply->target = self->reply_target;
    atomic_store_explicit(&reply->references, 1, memory_order_relaxed);
    int64_t slot = cap_insert(&self->space->caps, 0, CAP_REPLY, reply, RIGHT_SEND | RIGHT_GRANT, 0);
    if (slot < 0)
        slab_free(&reply_slab, reply);
    else
        self->reply_target.caller = NULL;
    return slot;
}

int64_t sys_ipc_reply_to(uint64_t slot)
{
    struct thread *self = current_thread(), *woken = NULL;
    void *object;
    int64_t error = cap_get(&self->space->caps, slot, CAP_REPLY, RIGHT_SEND, &object);
    if (error)
        return error;
    struct reply *reply = object;
    struct reply_target target = {__atomic_load_n(&reply->target.caller, __ATOMIC_RELAXED),
                                  reply->target.call_id};
    /* Another holder of the capability may reply, and the caller end: its memory stays valid until we leave
     * the kernel (quiescent.h). */
    error = target.caller ? ipc_send_reply(self, target, &woken) : -E_DEAD;
    if (!error)
        __atomic_store_n(&reply->target.caller, NULL, __ATOMIC_RELAXED); /* reply_put orders it */
    if (!error || error == -E_DEAD)
        cap_close(&self->space->caps, slot, reply);
    reply_put(reply);
    if (woken)
        sched_wake(woken);
    return error;
}

void reply_put(struct reply *reply)
{
    /* Release and acquire: as in memory_put. */
    if (atomic_fetch_sub_explicit(&reply->references, 1, memory_order_acq_rel) != 1)
        return;
    struct reply_target target = reply->target;
    slab_free(&reply_slab, reply);
    ipc_fail_caller(target, -E_DEAD);
}

OBJECT_TYPE(CAP_REPLY, reply);
