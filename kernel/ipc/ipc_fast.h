/* ipc_fast.h - steps that fast messages (ipc_fast.c) and fast faults (fault_fast.c) share. */
#pragma once

#include <kernel/cpu/cpu.h>
#include <kernel/sched/sched.h>
#include <kernel/sched/switch.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>

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
    sched_move_here(thread);
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
