/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * switch.h - the switch from one thread to another on this CPU.
 *
 * Inline, because IPC does it twice per call. The caller owns `next` (thread.h), and has settled the
 * running thread.
 */
#ifndef KERNEL_SWITCH_H
#define KERNEL_SWITCH_H

#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/smp_call.h>
#include <kernel/diagnosis/routines.h>
#include <kernel/explore/explore.h>
#include <kernel/sched/thread.h>
#include <kernel/sched/traced_state.h>
#include <kernel/space/space.h>
#include <trace/counter.h>

/* Logs a switch that follows. Returns its time: that of the event if routines are counted, so that they agree
 * with the trace. This CPU logs nothing else until `current` has changed: a packet that began in between
 * would have a context that names `prev`. */
static inline __attribute__((always_inline)) uint64_t trace_switch(const struct thread *prev,
                                                                   const struct thread *next,
                                                                   enum thread_state prev_state)
{
    struct cpu *cpu = this_cpu();
    cpu->switch_logged_at = cpu->switched_at;
    atomic_signal_fence(memory_order_seq_cst); /* for profile_kernel, which interrupts */
    if (ROUTINES_ON())
        return trace_counted_switch(prev, next, prev_state);
    trace_sched_switch(prev->block->name, prev->tid, traced_state(prev_state),
                       (uint16_t)thread_priority(prev), next->block->name, next->tid,
                       (uint16_t)thread_priority(next), prev->block->pid, next->block->pid);
    return arch_clock();
}

/* Accounting, for a switch at `now`, and registers. The next thread's space is active already. */
static inline __attribute__((always_inline)) void switch_out(struct cpu *cpu, struct thread *prev,
                                                             struct thread *next, uint64_t now)
{
    uint64_t ran = now - cpu->switched_at;
    prev->run_ticks += ran;
    prev->slice_used += ran;
    atomic_store_explicit(&next->on_cpu, 1, memory_order_relaxed);
    arch_thread_switch(prev, next);
    __atomic_store_n(&cpu->current, next, __ATOMIC_RELAXED); /* others read it: trace_kernel_context */
    atomic_signal_fence(
        memory_order_release); /* ends the switch (switch_logged_at), as seen by an interrupt */
    cpu->switched_at = now;
    if (ROUTINES_OR(TRACE_CLASS_COUNTER))
        measure_switch(cpu, prev, next);
    /* Release: the thread's registers are in memory. Pairs with wait_until_free and other loads of on_cpu. */
    atomic_store_explicit(&prev->on_cpu, 0, memory_order_release);
    explore_movable(prev);
}

/* `prev_state`: the old thread's, for the trace. */
static inline void switch_to(struct cpu *cpu, struct thread *next, enum thread_state prev_state)
{
    struct thread *prev = cpu->current;
    atomic_store_explicit(&next->state, THREAD_RUNNING, memory_order_relaxed);
    if (prev != next) {
        if (next->space) /* an idle thread keeps the last page tables */
            space_activate(cpu, next->space);
        switch_out(cpu, prev, next, TRACE_ON_SCHED() ? trace_switch(prev, next, prev_state) : arch_clock());
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
        switch_to(cpu, cpu->idle, cpu->current->state);
    while (atomic_load_explicit(&next->on_cpu, memory_order_acquire)) {
        smp_poll();
        arch_relax();
    }
}

#endif
