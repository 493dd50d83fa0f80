/* wait.c - how threads begin and end a wait. thread.h describes the protocol. */
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/kernel.h>
#include <kernel/sched/sched.h>
#include <kernel/sched/thread.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>
#include <trace/timer.h>

void thread_begin_wait(struct thread *self, enum thread_state state, struct spinlock *lock, uint64_t deadline)
{
    struct cpu *cpu = this_cpu();
    assert(self == cpu->current && spin_held(lock));
    atomic_store_explicit(&self->state, state, memory_order_relaxed);
    self->wait_deadline = deadline;
    if (deadline != TIMER_NEVER)
        timer_add(&self->timer, deadline); /* on this CPU; interrupts are off, so it cannot expire yet */
    /* Visible as a waiter from here on. Sequentially consistent: pairs with thread_kill, which sets
     * `pending` and then reads wait_lock. */
    atomic_store(&self->wait_lock, lock);
    arch_fence_after_store();
    spin_unlock(lock);
    atomic_store_explicit(&cpu->need_resched, 1, memory_order_relaxed);
    if (atomic_load_explicit(&self->pending, memory_order_relaxed) & PENDING_KILL)
        thread_abort_wait(self, -E_CANCELED);
}

struct spinlock *thread_lock_wait(struct thread *thread)
{
    for (;;) {
        struct spinlock *lock = atomic_load(&thread->wait_lock);
        if (!lock)
            return NULL;
        spin_lock(lock);
        /* Certain under the lock. Acquire: pairs with begin_wait in the fast path, which does not take the
         * lock; deadline and state are those of this wait. */
        if (atomic_load_explicit(&thread->wait_lock, memory_order_acquire) == lock)
            return lock;
        spin_unlock(lock);
    }
}

void thread_end_wait(struct thread *thread)
{
    assert(spin_held(atomic_load_explicit(&thread->wait_lock, memory_order_relaxed)));
    /* Sequentially consistent: a CPU that finds no wait then reads which CPU the thread is on. */
    atomic_store(&thread->wait_lock, NULL);
}

/* A faulting thread has nowhere to return an error; it would only fault again. */
static bool can_tell_error(struct thread *thread)
{
    uint32_t state = atomic_load_explicit(&thread->state, memory_order_relaxed);
    return state != THREAD_SUSPENDED && state != THREAD_BLOCKED_FAULT;
}

/* The wait's lock is held; releases it. */
static void finish_wait(struct thread *thread, struct spinlock *lock, int64_t error)
{
    const bool tells_error = can_tell_error(thread);
    if (!thread_owns_lock(thread, lock))
        list_remove(&thread->link);
    if (lock == &thread->reply_lock) /* a reply_target still points to it */
        thread_get(thread);
    thread_end_wait(thread);
    spin_unlock(lock);
    if (tells_error)
        frame_set_result(&thread->frame, error);
    sched_wake(thread);
}

void thread_end_waits(struct spinlock *lock, struct list *queue)
{
    for (;;) {
        spin_lock(lock);
        if (list_empty(queue))
            break;
        finish_wait(list_object(queue->next, struct thread, link), lock, -E_DEAD);
    }
    spin_unlock(lock);
}

bool thread_abort_wait(struct thread *thread, int64_t error)
{
    struct spinlock *lock = thread_lock_wait(thread);
    if (!lock)
        return false;
    if (!(atomic_load(&thread->pending) & PENDING_KILL) && !can_tell_error(thread)) {
        spin_unlock(lock);
        return false;
    }
    finish_wait(thread, lock, error);
    return true;
}

void thread_expire(struct thread *thread, uint64_t now)
{
    struct spinlock *lock = thread_lock_wait(thread);
    if (!lock)
        return;
    if (thread->wait_deadline > now) { /* the timer is old; the thread is in another wait now */
        spin_unlock(lock);
        return;
    }
    uint64_t late = timer_nanoseconds(now - thread->wait_deadline);
    trace_timer_expire(thread->tid, (uint32_t)(late / 1000));
    bool sleeps = atomic_load_explicit(&thread->state, memory_order_relaxed) == THREAD_SLEEPING;
    finish_wait(thread, lock, sleeps ? 0 : -E_TIMEOUT);
}

/* ---- Sleeping ---- */

int64_t sys_thread_sleep(uint64_t deadline)
{
    struct thread *self = current_thread();
    uint64_t ticks = timer_ticks(deadline);
    if (ticks <= arch_clock())
        return 0;
    spin_lock(&self->lock);
    thread_begin_wait(self, THREAD_SLEEPING, &self->lock, ticks);
    return SYSCALL_NO_RESULT;
}

int64_t sys_thread_yield(void)
{
    sched_yield();
    return 0;
}
