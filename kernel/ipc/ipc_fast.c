/*
 * ipc_fast.c - the fast paths of ipc_call, ipc_reply_receive, and messages of faults.
 *
 * They handle nearly all messages: the other side waits, may run on this CPU and has nothing pending; there
 * are no capabilities and no deadline. The message goes from trap frame to trap frame, and this CPU
 * switches to the other thread without a queue. All other cases go to the general path (endpoint.c) before
 * anything has changed. The order of steps is the same there, and its comments apply. Locks are only tried.
 */
#include <kernel/cpu/cpu.h>
#include <kernel/ipc/cap.h>
#include <kernel/ipc/ipc.h>
#include <kernel/ipc/notification.h>
#include <kernel/sched/run_queue.h>
#include <kernel/sched/switch.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>
#include <trace/exception.h>
#include <trace/fault.h>
#include <trace/ipc.h>

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Can a waiting thread run here at once? The lock of its wait is held. */
static inline bool can_run_here(const struct cpu *cpu, const struct thread *thread)
{
    uint32_t busy = atomic_load_explicit(&thread->on_cpu, memory_order_relaxed) |
                    atomic_load_explicit(&thread->pending, memory_order_relaxed);
    /* Acquire: pairs with the release in switch_out. */
    atomic_thread_fence(memory_order_acquire);
    return !busy && atomic_load_explicit(&thread->affinity, memory_order_relaxed) >> cpu->index & 1;
}

/* The result of can_run_here may be stale: a CPU that set `pending` since may have interrupted the thread's
 * old CPU. Both sides are sequentially consistent; pairs with sys_thread_suspend. */
static __attribute__((noinline, cold)) void move_here(struct cpu *cpu, struct thread *thread)
{
    sched_move(thread, cpu);
    if (atomic_load(&thread->pending))
        atomic_store_explicit(&cpu->need_resched, 1, memory_order_relaxed);
}

/* Ends the wait of a thread that continues here. It moves first: a CPU that finds no wait then reads which
 * CPU it is on. */
static inline void take_over(struct cpu *cpu, struct thread *thread)
{
    if (unlikely(atomic_load_explicit(&thread->cpu, memory_order_relaxed) != cpu)) {
        move_here(cpu, thread);
        atomic_thread_fence(memory_order_release); /* pairs with sched_kick, which reads in that order */
    }
    atomic_store_explicit(&thread->wait_lock, NULL, memory_order_relaxed);
}

/* Sequentially consistent, and `pending` is read later, as in thread_begin_wait. */
static inline void begin_wait(struct thread *self, enum thread_state state, struct spinlock *lock)
{
    atomic_store_explicit(&self->state, state, memory_order_relaxed);
    self->wait_deadline = TIMER_NEVER;
    atomic_store(&self->wait_lock, lock);
    arch_fence_after_store();
}

static inline bool is_killed(const struct thread *self)
{
    return unlikely(atomic_load_explicit(&self->pending, memory_order_relaxed) & PENDING_KILL);
}

/* The next thread has another priority, so a ready one may come first. */
static inline void change_priority(struct cpu *cpu, const struct thread *next)
{
    struct run_queue *queue = &cpu->run_queue;
    uint32_t priority = thread_priority(next);
    /* The bitmap is read after this store: see sched.h. */
    atomic_store(&queue->running, (int)priority);
    if (unlikely(atomic_load(&queue->bitmap) >> priority > 1))
        atomic_store_explicit(&cpu->need_resched, 1, memory_order_relaxed);
}

static inline __attribute__((always_inline)) void switch_to_partner(struct cpu *cpu, struct thread *self,
                                                                    struct thread *next)
{
    if (thread_priority(self) != thread_priority(next))
        change_priority(cpu, next);
    atomic_store_explicit(&next->state, THREAD_RUNNING, memory_order_relaxed);
    space_activate(cpu, next->space);
    switch_out(cpu, self, next);
    if (unlikely(next->traced))
        thread_trace_resumed(next);
}

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

/* ---- A fault's message to a thread that waits for it on this CPU ---- */

bool ipc_send_fault_fast(struct thread *self, struct endpoint **where)
{
    struct cpu *cpu = this_cpu();
    struct endpoint *endpoint = __atomic_load_n(where, __ATOMIC_RELAXED);
    if (!endpoint || !spin_try_lock(&endpoint->lock))
        return false;
    struct list *link = endpoint->receivers.next;
    struct thread *server = list_object(link, struct thread, link);
    /* `endpoint` may be stale, but it is still an endpoint (slab.h), so locking it was safe. If `*where`
     * still holds it under its lock, it is alive: its reference is dropped after `*where` changes, and the
     * last put takes the lock. */
    if (__atomic_load_n(where, __ATOMIC_RELAXED) != endpoint || link == &endpoint->receivers ||
        !can_run_here(cpu, server) || TRACE_ON_IPC()) {
        spin_unlock(&endpoint->lock);
        return false;
    }
    list_remove(link);
    take_over(cpu, server);
    ipc_put_fault_message(self, server);
    begin_wait(self, THREAD_BLOCKED_FAULT, &self->reply_lock);
    spin_unlock_fenced(&endpoint->lock);
    if (is_killed(self))
        thread_abort_wait(self, -E_CANCELED);
    switch_to_partner(cpu, self, server);
    return true;
}
