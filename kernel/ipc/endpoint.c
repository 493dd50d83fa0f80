/*
 * endpoint.c - messages, the general path. The model: endpoint.h; waits: thread.h; the fast path:
 * ipc_fast.c.
 *
 * A message goes from trap frame to trap frame under the endpoint's lock, under which one of the two
 * threads waits. Each operation looks up, locks, checks again, validates (dead, deadline, capabilities),
 * and commits.
 */
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/ipc/cap.h>
#include <kernel/ipc/endpoint.h>
#include <kernel/ipc/ipc.h>
#include <kernel/ipc/notification.h>
#include <kernel/kernel.h>
#include <kernel/memory/slab.h>
#include <kernel/object/cap_table.h>
#include <kernel/sched/sched.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>
#include <trace/ipc.h>

static LOCK_CLASS(endpoint_class, "endpoint");
static LOCK_CLASS(endpoint_slab_class, "endpoint slab");

static void construct(void *object)
{
    struct endpoint *endpoint = object;
    spin_init(&endpoint->lock, &endpoint_class);
    list_init(&endpoint->senders);
    list_init(&endpoint->receivers);
}

static struct slab endpoint_slab = SLAB("endpoint", struct endpoint, construct, &endpoint_slab_class);
static _Atomic uint32_t last_number;

/* ---- Life ---- */

struct endpoint *endpoint_new(void)
{
    struct endpoint *endpoint = slab_alloc(&endpoint_slab);
    if (!endpoint)
        return NULL;
    atomic_store_explicit(&endpoint->references, 1, memory_order_relaxed);
    atomic_store_explicit(&endpoint->receive_caps, 0, memory_order_relaxed);
    endpoint->number = atomic_fetch_add_explicit(&last_number, 1, memory_order_relaxed) + 1;
    endpoint->dead = false;
    return endpoint;
}

static void make_dead(struct endpoint *endpoint)
{
    spin_lock(&endpoint->lock);
    endpoint->dead = true;
    spin_unlock(&endpoint->lock);
    thread_end_waits(&endpoint->lock, &endpoint->senders);
    thread_end_waits(&endpoint->lock, &endpoint->receivers);
}

void endpoint_put(struct endpoint *endpoint)
{
    /* Release and acquire: as in memory_put. */
    if (atomic_fetch_sub_explicit(&endpoint->references, 1, memory_order_acq_rel) != 1)
        return;
    make_dead(endpoint);
    slab_free(&endpoint_slab, endpoint);
}

static void add_receiver(const struct cap_table *table, void *object, uint32_t rights)
{
    struct endpoint *endpoint = object;
    (void)table;
    if (rights & RIGHT_RECEIVE)
        atomic_fetch_add_explicit(&endpoint->receive_caps, 1, memory_order_relaxed);
}

/* Copies need an existing capability, so 0 is final. */
static void remove_receiver(const struct cap_table *table, void *object, uint32_t rights)
{
    struct endpoint *endpoint = object;
    (void)table;
    if (rights & RIGHT_RECEIVE &&
        atomic_fetch_sub_explicit(&endpoint->receive_caps, 1, memory_order_acq_rel) == 1)
        make_dead(endpoint);
}

OBJECT_TYPE(CAP_ENDPOINT, endpoint, .added = add_receiver, .removed = remove_receiver);

int64_t sys_endpoint_create(void)
{
    return cap_give(CAP_ENDPOINT, endpoint_new(), RIGHT_ALL);
}

/* ---- One message ---- */

void ipc_put_fault_message(struct thread *from, struct thread *to)
{
    frame_set_label(&to->frame, from->fault_label);
#pragma GCC unroll 6
    for (unsigned i = 0; i < IPC_WORDS; i++)
        frame_set_word(&to->frame, i, from->fault_words[i]);
    frame_set_caps(&to->frame, 0);
    frame_set_badge(&to->frame, 0);
    frame_set_result(&to->frame, 0);
    to->reply_target = (struct reply_target){from, from->call_id};
}

static int put_message(struct thread *from, struct thread *to)
{
    if (frame_caps(&from->frame) != 0) {
        int error = cap_send(from, to);
        if (error)
            return error;
    } else {
        frame_set_caps(&to->frame, 0);
    }
    frame_copy_message(&to->frame, &from->frame);
    frame_set_badge(&to->frame, from->send_badge);
    frame_set_result(&to->frame, 0);
    bool is_call = from->message_kind == MESSAGE_CALL;
    to->reply_target = (struct reply_target){is_call ? from : NULL, from->call_id};
    return 0;
}

/* The endpoint's lock is held. If capabilities fail, nothing has changed. */
static int deliver(struct endpoint *endpoint, struct thread *from, struct thread *to)
{
    assert(spin_held(&endpoint->lock));
    if (from->message_kind == MESSAGE_FAULT) {
        ipc_put_fault_message(from, to);
    } else {
        int error = put_message(from, to);
        if (error)
            return error;
    }
    trace_ipc_receive(from->call_id, frame_label(&to->frame), endpoint->number, from->tid);
    return 0;
}

/* Receives the bits of the bound notification; false if there are none. */
static bool take_bound_bits(struct thread *self)
{
    if (!self->bound || atomic_load(&self->bound->bits) == 0)
        return false;
    uint64_t bits = atomic_exchange(&self->bound->bits, 0);
    if (bits)
        ipc_put_notification(self, bits);
    return bits != 0;
}

void ipc_put_notification(struct thread *to, uint64_t bits)
{
    frame_set_label(&to->frame, IPC_LABEL_NOTIFICATION);
    frame_set_word(&to->frame, 0, bits);
    frame_set_caps(&to->frame, 0);
    frame_set_badge(&to->frame, 0);
    frame_set_result(&to->frame, 0);
    trace_ipc_wait(to->bound->number, bits);
}

/* ---- Sending ---- */

/* Call it before the receiver runs, or the reply would find nobody. */
static void wait_for_reply(struct thread *self, enum thread_state state, uint64_t deadline)
{
    spin_lock(&self->reply_lock);
    thread_begin_wait(self, state, &self->reply_lock, deadline);
}

/* The return is logged when the thread runs again. */
static void trace_sent(struct thread *self, struct endpoint *endpoint, uint32_t server_tid)
{
    uint64_t label = self->message_kind == MESSAGE_FAULT ? self->fault_label : frame_label(&self->frame);
    if (self->message_kind == MESSAGE_SEND)
        trace_ipc_send(label, endpoint->number, server_tid);
    else
        trace_ipc_call(self->call_id, label, endpoint->number, server_tid);
    if (self->message_kind != MESSAGE_SEND && TRACE_ON_IPC())
        self->traced |= TRACED_CALL;
}

static int64_t fail_sent(struct thread *self, int64_t error)
{
    if (self->traced & TRACED_CALL)
        trace_ipc_return(self->call_id, 0, error);
    self->traced &= ~TRACED_CALL;
    return error;
}

/* The caller holds the endpoint's lock; releases it. */
static int64_t send_locked(struct thread *self, struct endpoint *endpoint, uint64_t deadline)
{
    bool faulted = self->message_kind == MESSAGE_FAULT;
    if (list_empty(&endpoint->receivers)) {
        if (deadline <= arch_clock()) {
            spin_unlock(&endpoint->lock);
            return -E_TIMEOUT;
        }
        trace_sent(self, endpoint, 0);
        list_add_tail(&endpoint->senders, &self->link);
        thread_begin_wait(self, faulted ? THREAD_BLOCKED_FAULT : THREAD_BLOCKED_SEND, &endpoint->lock,
                          deadline);
        return SYSCALL_NO_RESULT;
    }
    struct thread *receiver = list_object(endpoint->receivers.next, struct thread, link);
    trace_sent(self, endpoint, receiver->tid);
    int error = deliver(endpoint, self, receiver);
    if (error) {
        spin_unlock(&endpoint->lock);
        return fail_sent(self, error);
    }
    list_remove(&receiver->link);
    thread_end_wait(receiver);
    spin_unlock(&endpoint->lock);
    if (self->message_kind == MESSAGE_SEND) {
        sched_wake(receiver);
        return 0;
    }
    wait_for_reply(self, faulted ? THREAD_BLOCKED_FAULT : THREAD_BLOCKED_REPLY, deadline);
    sched_hand_over(receiver);
    return SYSCALL_NO_RESULT;
}

static int64_t send(cap_t slot, enum message_kind kind)
{
    struct thread *self = current_thread();
    struct cap cap;
    int error = cap_lookup(&self->space->caps, slot, CAP_ENDPOINT, RIGHT_SEND, &cap);
    if (error)
        return error;
    struct endpoint *endpoint = cap.object;
    spin_lock(&endpoint->lock);
    if (!cap_revalidate(&cap) || endpoint->dead) {
        bool dead = cap_revalidate(&cap);
        spin_unlock(&endpoint->lock);
        return dead ? -E_DEAD : -E_BAD_CAP;
    }
    self->message_kind = kind;
    self->send_badge = cap.badge;
    self->call_id = kind == MESSAGE_CALL ? ipc_new_call_id() : 0;
    return send_locked(self, endpoint, timer_ticks(frame_deadline(&self->frame)));
}

int64_t ipc_call_general(cap_t slot)
{
    return send(slot, MESSAGE_CALL);
}

int64_t sys_ipc_send(uint64_t slot)
{
    return send(slot, MESSAGE_SEND);
}

void ipc_prepare_fault(struct thread *self, uint64_t label, const uint64_t words[IPC_WORDS])
{
    self->fault_label = label;
    __builtin_memcpy(self->fault_words, words, sizeof self->fault_words);
    self->message_kind = MESSAGE_FAULT;
    self->call_id = ipc_new_call_id();
}

int ipc_send_fault(struct endpoint *endpoint)
{
    struct thread *self = current_thread();
    spin_lock(&endpoint->lock);
    if (endpoint->dead) {
        spin_unlock(&endpoint->lock);
        return -E_DEAD;
    }
    send_locked(self, endpoint, TIMER_NEVER);
    return 0;
}

/* ---- Receiving ---- */

/* Takes the first message that can be delivered; false if there is none. */
static bool take_message(struct thread *self, struct endpoint *endpoint)
{
    while (!list_empty(&endpoint->senders)) {
        struct thread *sender = list_object(endpoint->senders.next, struct thread, link);
        int error = deliver(endpoint, sender, self);
        list_remove(&sender->link);
        if (!error && sender->message_kind != MESSAGE_SEND) {
            /* From one wait into the next without a gap. Sequentially consistent as in thread_begin_wait,
             * but need not read `pending`: a CPU that sets it waits for our lock. */
            if (sender->message_kind == MESSAGE_CALL)
                atomic_store_explicit(&sender->state, THREAD_BLOCKED_REPLY, memory_order_relaxed);
            atomic_store(&sender->wait_lock, &sender->reply_lock);
            return true;
        }
        thread_end_wait(sender);
        frame_set_result(&sender->frame, error);
        sched_wake(sender);
        if (!error)
            return true;
    }
    return false;
}

/* The next message would overwrite reply_target. */
static void fail_previous_caller(struct thread *self)
{
    struct reply_target target = self->reply_target;
    self->reply_target.caller = NULL;
    ipc_fail_caller(target, -E_CANCELED);
}

static int64_t receive(struct thread *self, const struct cap *cap)
{
    struct endpoint *endpoint = cap->object;
    uint64_t deadline = timer_ticks(frame_deadline(&self->frame));
    fail_previous_caller(self);
    spin_lock(&endpoint->lock);
    if (!cap_revalidate(cap) || endpoint->dead) {
        spin_unlock(&endpoint->lock);
        return -E_BAD_CAP;
    }
    bool taken = take_bound_bits(self) || take_message(self, endpoint);
    if (taken || deadline <= arch_clock()) {
        spin_unlock(&endpoint->lock);
        return taken ? 0 : -E_TIMEOUT;
    }
    /* The last waiter has the warmest cache. */
    list_add_head(&endpoint->receivers, &self->link);
    thread_begin_wait(self, THREAD_BLOCKED_RECEIVE, &endpoint->lock, deadline);
    /* The signal came first: see notification.h. */
    if (self->bound && atomic_load(&self->bound->bits) != 0)
        notification_deliver_bound(self->bound, self);
    return SYSCALL_NO_RESULT;
}

int64_t sys_ipc_receive(uint64_t slot)
{
    struct thread *self = current_thread();
    struct cap cap;
    int error = cap_lookup(&self->space->caps, slot, CAP_ENDPOINT, RIGHT_RECEIVE, &cap);
    return error ? error : receive(self, &cap);
}

/* IPC_CLOSE_SENT: a cap_close like any other, without locks, while `self` runs. It may kill the woken caller,
 * which this thread owns until sched_wake; as that has no wait, the kill only sets `pending` (thread.h). */
static void close_sent(struct thread *self)
{
    uint64_t caps = frame_caps(&self->frame);
    for (; caps; caps >>= 16) {
        if ((uint16_t)caps)
            cap_close(&self->space->caps, (uint16_t)caps, NULL);
    }
}

int64_t ipc_reply_receive_general(uint64_t slot)
{
    struct thread *self = current_thread();
    struct cap cap;
    struct thread *woken = NULL;
    int64_t error = cap_lookup(&self->space->caps, (cap_t)slot, CAP_ENDPOINT, RIGHT_RECEIVE, &cap);
    if (!error && self->reply_target.caller) {
        error = ipc_answer_own(self, &woken);
        if (error == -E_DEAD) /* the caller is gone; there may be others */
            error = 0;
        if (!error && slot & IPC_CLOSE_SENT)
            close_sent(self);
    }
    if (error)
        return error;
    int64_t result = receive(self, &cap);
    if (woken && result == SYSCALL_NO_RESULT)
        sched_hand_over(woken);
    else if (woken)
        sched_wake(woken);
    return result;
}
