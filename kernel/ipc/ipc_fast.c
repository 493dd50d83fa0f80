/*
 * ipc_fast.c - the fast paths of ipc_call and ipc_reply_receive.
 *
 * They handle nearly all messages: the other side waits, may run on this CPU and has nothing pending; there
 * are no capabilities and no deadline. The message goes from trap frame to trap frame, and this CPU
 * switches to the other thread without a queue. All other cases go to the general path (endpoint.c) before
 * anything has changed. The order of steps is the same there, and its comments apply. Locks are only tried.
 */
#include <kernel/cpu/cpu.h>
#include <kernel/ipc/cap.h>
#include <kernel/ipc/ipc.h>
#include <kernel/ipc/ipc_fast.h>
#include <kernel/ipc/notification.h>
#include <kernel/sched/thread.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>
#include <trace/exception.h>
#include <trace/fault.h>
#include <trace/ipc.h>

/* A capability's type and one right, as in its meta word. */
#define META_SEND    ((uint64_t)CAP_ENDPOINT | (uint64_t)RIGHT_SEND << 8)
#define META_RECEIVE ((uint64_t)CAP_ENDPOINT | (uint64_t)RIGHT_RECEIVE << 8)
#define META_TYPE    0xffull

/* Locks a slot's endpoint, and checks the capability again. False: use the general path. */
static inline __attribute__((always_inline)) bool lock_endpoint(struct thread *self, cap_t number,
                                                                uint64_t wanted, struct endpoint **found,
                                                                uint64_t *badge)
{
    struct cap cap;
    uint64_t meta = cap_read(&self->space->caps, number, &cap);
    if (unlikely((meta & (META_TYPE | (wanted & ~META_TYPE))) != wanted))
        return false;
    struct endpoint *endpoint = *found = cap.object;
    *badge = cap.badge;
    if (unlikely(!spin_try_lock(&endpoint->lock)))
        return false;
    /* No need to test for a dead endpoint: a capability to receive keeps it alive, and a call that finds a
     * waiting receiver counts as made before its death. The lock's fence orders this load, as in
     * cap_revalidate. */
    if (likely(atomic_load_explicit(&cap.slot->meta, memory_order_relaxed) == meta))
        return true;
    spin_unlock(&endpoint->lock);
    return false;
}

static inline bool is_plain(const struct thread *self)
{
    return (frame_caps(&self->frame) | ~frame_deadline(&self->frame)) == 0;
}

static inline void hand_message(struct thread *from, struct thread *to, uint64_t badge)
{
    frame_copy_message(&to->frame, &from->frame);
    frame_set_caps(&to->frame, 0);
    frame_set_badge(&to->frame, badge);
    frame_set_result(&to->frame, 0);
}

static __attribute__((noinline, cold)) void trace_fast_call(struct thread *self, struct thread *server,
                                                            uint32_t endpoint, uint64_t call_id)
{
    uint64_t label = frame_label(&self->frame);
    trace_ipc_call(call_id, label, endpoint, server->tid);
    trace_ipc_receive(call_id, label, endpoint, self->tid);
    self->traced |= TRACED_CALL;
}

/* The label is in the caller's frame; a sender may already have overwritten ours. */
static __attribute__((noinline, cold)) void trace_fast_reply(struct thread *self, struct thread *caller)
{
    bool called = caller->message_kind == MESSAGE_CALL;
    trace_ipc_reply(caller->call_id, called ? frame_label(&caller->frame) : FAULT_REPLY_RESUME, caller->tid);
}

/* ---- Call ---- */

int64_t sys_ipc_call(uint64_t slot)
{
    struct cpu *cpu = this_cpu();
    struct thread *self = cpu->current;
    uint64_t badge;
    struct endpoint *endpoint;
    if (unlikely(!is_plain(self)) || unlikely(!lock_endpoint(self, slot, META_SEND, &endpoint, &badge)))
        return ipc_call_general(slot);
    struct list *link = endpoint->receivers.next;
    struct thread *server = list_object(link, struct thread, link);
    if (unlikely(link == &endpoint->receivers) || unlikely(!can_run_here(cpu, server))) {
        spin_unlock(&endpoint->lock);
        return ipc_call_general(slot);
    }
    uint64_t call_id = ++cpu->next_call_id;
    list_remove(link);
    take_over(cpu, server);
    if (TRACE_ON_IPC()) /* the lock keeps the endpoint alive */
        trace_fast_call(self, server, endpoint->number, call_id);
    hand_message(self, server, badge);
    server->reply_target = (struct reply_target){self, call_id};
    self->call_id = call_id;
    self->message_kind = MESSAGE_CALL;
    begin_wait(self, THREAD_BLOCKED_REPLY, &self->reply_lock);
    spin_unlock_fenced(&endpoint->lock); /* fenced by begin_wait */
    if (is_killed(self))
        thread_abort_wait(self, -E_CANCELED);
    switch_to_partner(cpu, self, server);
    return arch_switched();
}

/* ---- Reply and receive ---- */

/* A reply to a fault that says resume, with no event to log. */
static inline bool is_plain_resume(const struct thread *self)
{
    return frame_label(&self->frame) == FAULT_REPLY_RESUME && !TRACE_ON_FAULT() && !TRACE_ON_EXCEPTION();
}

/* Whether the caller, which is locked, waits for this reply and may run here. */
static inline bool awaits(const struct cpu *cpu, const struct thread *caller, struct reply_target target)
{
    /* Acquire, by the fence in can_run_here: as in reply.c's lock_caller. */
    return likely(atomic_load_explicit(&caller->wait_lock, memory_order_relaxed) == &caller->reply_lock &&
                  can_run_here(cpu, caller) && caller->call_id == target.call_id);
}

static inline bool has_bound_bits(const struct thread *self)
{
    return self->bound && atomic_load(&self->bound->bits) != 0;
}

int64_t sys_ipc_reply_receive(uint64_t slot)
{
    struct cpu *cpu = this_cpu();
    struct thread *self = cpu->current;
    uint64_t badge;
    struct endpoint *endpoint;
    if (unlikely(!is_plain(self)) || unlikely(!lock_endpoint(self, slot, META_RECEIVE, &endpoint, &badge)))
        return ipc_reply_receive_general(slot);
    struct reply_target target = self->reply_target;
    struct thread *caller = target.caller;
    if (unlikely(!list_empty(&endpoint->senders)) || unlikely(has_bound_bits(self)) || unlikely(!caller) ||
        unlikely(!spin_try_lock(&caller->reply_lock))) {
        spin_unlock(&endpoint->lock);
        return ipc_reply_receive_general(slot);
    }
    /* a thread that does not wait may be sending already */
    const bool waits = likely(awaits(cpu, caller, target)),
               called = waits && likely(caller->message_kind == MESSAGE_CALL);
    if (unlikely(!waits) || (!called && !is_plain_resume(self))) {
        spin_unlock(&caller->reply_lock);
        spin_unlock(&endpoint->lock);
        return ipc_reply_receive_general(slot);
    }
    take_over(cpu, caller);
    if (called)
        hand_message(self, caller, 0);
    self->reply_target.caller = NULL;
    list_add_head(&endpoint->receivers, &self->link);
    begin_wait(self, THREAD_BLOCKED_RECEIVE, &endpoint->lock);
    spin_unlock_fenced(&caller->reply_lock);
    spin_unlock_fenced(&endpoint->lock);
    if (TRACE_ON_IPC())
        trace_fast_reply(self, caller);
    if (is_killed(self))
        thread_abort_wait(self, -E_CANCELED);
    /* the signal came first: see notification.h */
    else if (unlikely(has_bound_bits(self)))
        notification_deliver_bound(self->bound, self);
    switch_to_partner(cpu, self, caller);
    return arch_switched();
}
