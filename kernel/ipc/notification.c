/* notification.c - asynchronous signals. The model and the races: notification.h. */
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/ipc/cap.h>
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

static LOCK_CLASS(notification_class, "notification");
static LOCK_CLASS(notification_slab_class, "notification slab");

static void construct(void *object)
{
    struct notification *notification = object;
    spin_init(&notification->lock, &notification_class);
    list_init(&notification->waiters);
}

static struct slab notification_slab =
    SLAB("notification", struct notification, construct, &notification_slab_class);
static _Atomic uint32_t last_number;

/* ---- Life ---- */

struct notification *notification_new(void)
{
    struct notification *notification = slab_alloc(&notification_slab);
    if (!notification)
        return NULL;
    atomic_store_explicit(&notification->references, 1, memory_order_relaxed);
    atomic_store_explicit(&notification->bits, 0, memory_order_relaxed);
    notification->number = atomic_fetch_add_explicit(&last_number, 1, memory_order_relaxed) + 1;
    notification->bound = NULL;
    return notification;
}

void notification_put(struct notification *notification)
{
    /* Release and acquire: as in memory_put. */
    if (atomic_fetch_sub_explicit(&notification->references, 1, memory_order_acq_rel) != 1)
        return;
    thread_end_waits(&notification->lock, &notification->waiters);
    slab_free(&notification_slab, notification);
}

OBJECT_TYPE(CAP_NOTIFICATION, notification);

/* ---- Signals ---- */

void notification_deliver_bound(struct notification *notification, struct thread *thread)
{
    struct spinlock *lock = thread_lock_wait(thread);
    if (!lock)
        return;
    uint64_t bits = 0;
    if (atomic_load(&thread->state) == THREAD_BLOCKED_RECEIVE && thread->bound == notification)
        bits = atomic_exchange(&notification->bits, 0);
    if (bits) {
        list_remove(&thread->link);
        thread_end_wait(thread);
    }
    spin_unlock(lock);
    if (!bits)
        return;
    ipc_put_notification(thread, bits);
    sched_wake(thread);
}

/* The caller holds the lock; releases it. */
static void signal_locked(struct notification *notification, uint64_t bits)
{
    uint32_t number = notification->number;
    atomic_fetch_or(&notification->bits, bits);
    if (list_empty(&notification->waiters)) {
        struct thread *bound = notification->bound;
        spin_unlock(&notification->lock);
        trace_ipc_signal(number, bound ? bound->tid : 0, bits);
        if (bound) /* it may have died; the memory is still a thread */
            notification_deliver_bound(notification, bound);
        return;
    }
    struct thread *thread = list_object(notification->waiters.next, struct thread, link);
    uint64_t taken = atomic_exchange(&notification->bits, 0);
    list_remove(&thread->link);
    thread_end_wait(thread);
    spin_unlock(&notification->lock);
    trace_ipc_signal(number, thread->tid, bits);
    trace_ipc_wait(number, taken);
    frame_set_result(&thread->frame, (int64_t)taken);
    sched_wake(thread);
}

void notification_signal(struct notification *notification, uint64_t bits)
{
    spin_lock(&notification->lock);
    signal_locked(notification, bits);
}

int64_t sys_notification_create(void)
{
    return cap_give(CAP_NOTIFICATION, notification_new(), RIGHT_ALL);
}

static int lock_notification(cap_t slot, uint32_t rights, struct notification **notification)
{
    struct cap cap;
    int error = cap_lookup(&current_thread()->space->caps, slot, CAP_NOTIFICATION, rights, &cap);
    if (error)
        return error;
    *notification = cap.object;
    spin_lock(&(*notification)->lock);
    if (cap_revalidate(&cap))
        return 0;
    spin_unlock(&(*notification)->lock);
    return -E_BAD_CAP;
}

int64_t sys_notification_signal(cap_t slot, uint64_t bits)
{
    struct notification *notification;
    if (bits & ~NOTIFICATION_BITS)
        return -E_BAD_ARGUMENT;
    int error = lock_notification(slot, RIGHT_WRITE, &notification);
    if (error)
        return error;
    if (bits == 0)
        spin_unlock(&notification->lock);
    else
        signal_locked(notification, bits);
    return 0;
}

int64_t sys_notification_wait(cap_t slot, uint64_t deadline)
{
    struct notification *notification;
    struct thread *self = current_thread();
    int error = lock_notification(slot, RIGHT_READ, &notification);
    if (error)
        return error;
    uint64_t bits = atomic_exchange(&notification->bits, 0), ticks = timer_ticks(deadline);
    if (bits || ticks <= arch_clock()) {
        uint32_t number = notification->number;
        spin_unlock(&notification->lock);
        if (bits)
            trace_ipc_wait(number, bits);
        return bits ? (int64_t)bits : -E_TIMEOUT;
    }
    list_add_tail(&notification->waiters, &self->link);
    thread_begin_wait(self, THREAD_BLOCKED_NOTIFICATION, &notification->lock, ticks);
    return SYSCALL_NO_RESULT;
}

/* ---- Binding ---- */

int64_t notification_set(struct notification **to, uint64_t *to_bits, struct spinlock *lock,
                         struct notification *notification, uint64_t bits)
{
    if (bits == 0 || bits & ~NOTIFICATION_BITS)
        return -E_BAD_ARGUMENT;
    notification_get(notification);
    spin_lock(lock);
    struct notification *old = *to;
    *to = notification;
    *to_bits = bits;
    spin_unlock(lock);
    if (old)
        notification_put(old);
    return 0;
}

static void unbind(struct thread *thread)
{
    struct notification *notification = thread->bound;
    if (!notification)
        return;
    spin_lock(&notification->lock);
    notification->bound = NULL;
    spin_unlock(&notification->lock);
    thread->bound = NULL;
    notification_put(notification);
}

THREAD_END(1_calls, unbind);

int64_t sys_notification_bind(cap_t slot)
{
    struct thread *self = current_thread();
    void *object;
    if (slot == 0) {
        unbind(self);
        return 0;
    }
    int error = cap_get(&self->space->caps, slot, CAP_NOTIFICATION, RIGHT_READ, &object);
    if (error)
        return error;
    struct notification *notification = object;
    spin_lock(&notification->lock);
    bool free = notification->bound == NULL;
    if (free)
        notification->bound = self;
    spin_unlock(&notification->lock);
    if (!free) {
        bool already = self->bound == notification;
        notification_put(notification);
        return already ? 0 : -E_BUSY;
    }
    unbind(self); /* the previous one */
    self->bound = notification;
    return 0;
}
