/*
 * switch.h - the switch from one thread to another on this CPU.
 *
 * Inline, because IPC does it twice per call. The caller owns `next` (thread.h), and has settled the
 * running thread.
 */
#pragma once

#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/explore.h>
#include <kernel/cpu/smp_call.h>
#include <kernel/cpu/span.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <trace/sched.h>

/* States of an idle CPU, as in Linux's cpu_idle event. */
enum { TRACED_WAKE = ~0u, TRACED_SLEEP = 1 };

/* The number of a state in the trace (trace/schema/sched.ev). */
static inline uint16_t traced_state(enum thread_state state)
{
    static const uint16_t states[] = {
        [THREAD_RUNNING] = TRACE_SCHED_RUNNING,
        [THREAD_READY] = TRACE_SCHED_READY,
        [THREAD_BLOCKED_SEND] = TRACE_SCHED_BLOCKED_IPC_SEND,
        [THREAD_BLOCKED_RECEIVE] = TRACE_SCHED_BLOCKED_IPC_RECEIVE,
        [THREAD_BLOCKED_REPLY] = TRACE_SCHED_BLOCKED_REPLY,
        [THREAD_BLOCKED_NOTIFICATION] = TRACE_SCHED_BLOCKED_NOTIFICATION,
        [THREAD_BLOCKED_FUTEX] = TRACE_SCHED_BLOCKED_FUTEX,
        [THREAD_SLEEPING] = TRACE_SCHED_SLEEPING,
        [THREAD_BLOCKED_FAULT] = TRACE_SCHED_BLOCKED_FAULT,
        [THREAD_SUSPENDED] = TRACE_SCHED_SUSPENDED,
        [THREAD_DEAD] = TRACE_SCHED_DEAD,
    };
    return states[state];
}

/* Accounting and registers. The next thread's space is active already. */
static inline __attribute__((always_inline)) void switch_out(struct cpu *cpu, struct thread *prev,
                                                             struct thread *next)
{
    const uint64_t now = SPAN_ON(TRACE_CLASS_SCHED) ? trace_switch(cpu, prev, next) : arch_clock();
    const uint64_t ran = now - cpu->switched_at;
    prev->run_ticks += ran;
    prev->slice_used += ran;
    atomic_store_explicit(&next->on_cpu, 1, memory_order_relaxed);
    arch_thread_switch(prev, next);
    __atomic_store_n(&cpu->current, next, __ATOMIC_RELAXED); /* others read it: trace_kernel_context */
    atomic_signal_fence(
        memory_order_release); /* ends the switch (switch_logged_at), as seen by an interrupt */
    cpu->switched_at = now;
    if (SPAN_COUNTED())
        count_switch(cpu, prev, next);
    /* Release: the thread's registers are in memory. Pairs with wait_until_free and other loads of on_cpu. */
    atomic_store_explicit(&prev->on_cpu, 0, memory_order_release);
    explore_movable(prev);
}

static inline void switch_to(struct cpu *cpu, struct thread *next)
{
    struct thread *prev = cpu->current;
    atomic_store_explicit(&next->state, THREAD_RUNNING, memory_order_relaxed);
    if (prev != next) {
        if (next->space) /* an idle thread keeps the last page tables */
            space_activate(cpu, next->space);
        switch_out(cpu, prev, next);
    }
    if (__builtin_expect(next->traced != 0, 0))
        thread_trace_resumed(next);
}

/* Waits until the CPU that ran `next` last has released it. Releases this CPU's own thread first, so that
 * two CPUs that want each other's do not deadlock. */
static inline void wait_until_free(struct cpu *cpu, struct thread *next)
{
    if (next == cpu->current)
        return;
    bool busy = atomic_load_explicit(&next->on_cpu, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire); /* pairs with the release in switch_out */
    if (!busy)
        return;
    if (cpu->current != cpu->idle)
        switch_to(cpu, cpu->idle);
    while (atomic_load_explicit(&next->on_cpu, memory_order_acquire)) {
        smp_poll();
        arch_relax();
    }
}
