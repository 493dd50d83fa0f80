/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * smp_call.c - smp calls, and the handler of all inter-processor interrupts. Interface: smp_call.h.
 *
 * Requests work like those of TLB shootdowns (tlb.c), but a CPU that spins for a lock handles only urgent
 * ones: the function of others may do anything that an interrupt handler may.
 */
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/smp_call.h>
#include <kernel/debug/debugger.h>
#include <kernel/diagnosis/routines.h>
#include <kernel/diagnosis/watchdog.h>
#include <kernel/kernel.h>
#include <kernel/space/space.h>
#include <kernel/trace/drain.h>
#include <trace/irq.h>

static struct call {
    void (*function)(void *argument);
    void *argument;
    _Atomic uint64_t waiting;              /* CPUs that have not finished */
} calls[CPUS_MAX], urgent_calls[CPUS_MAX]; /* by caller: one at a time */

static _Atomic uint64_t pending_of[CPUS_MAX], urgent_of[CPUS_MAX]; /* by target: callers that wait for it */

static void handle(_Atomic uint64_t *pending_here, struct call *from)
{
    struct cpu *cpu = this_cpu();
    if (atomic_load_explicit(pending_here, memory_order_relaxed) == 0)
        return;
    /* Acquire: pairs with the release in ask(); the caller's request is written. */
    uint64_t pending = atomic_exchange_explicit(pending_here, 0, memory_order_acquire);
    for (; pending; pending &= pending - 1) {
        struct call *call = &from[__builtin_ctzll(pending)];
        call->function(call->argument);
        /* Release: the caller sees what the function did. */
        atomic_fetch_and_explicit(&call->waiting, ~cpu->bit, memory_order_release);
    }
}

static void handle_requests(void)
{
    handle(&pending_of[this_cpu()->index], calls);
}

void smp_poll(void)
{
    tlb_handle_request();
    handle(&urgent_of[this_cpu()->index], urgent_calls);
}

static void ask(struct cpu *cpu, uint64_t targets, _Atomic uint64_t *pending)
{
    for (uint64_t left = targets; left; left &= left - 1) {
        struct cpu *target = &cpus[__builtin_ctzll(left)];
        /* Release: publishes the call to the target's exchange. */
        atomic_fetch_or_explicit(&pending[target->index], cpu->bit, memory_order_release);
        trace_irq_ipi_send(target->index, IPI_CALL);
        arch_send_ipi(target, IPI_CALL);
    }
}

void smp_call(uint64_t targets, void (*function)(void *argument), void *argument)
{
    struct cpu *cpu = this_cpu();
    struct call *call = &calls[cpu->index];
    call->function = function;
    call->argument = argument;
    atomic_store_explicit(&call->waiting, targets, memory_order_relaxed);
    ask(cpu, targets, pending_of);
    /* Acquire: pairs with the targets' release. Two CPUs may call each other, so handle requests here. */
    for (uint64_t turns = 1; atomic_load_explicit(&call->waiting, memory_order_acquire); turns++) {
        smp_poll();
        watchdog_spin(turns);
        handle_requests();
        arch_relax();
    }
}

void smp_call_urgently(uint64_t targets, void (*function)(void *argument), void *argument)
{
    struct cpu *cpu = this_cpu();
    struct call *call = &urgent_calls[cpu->index];
    call->function = function;
    call->argument = argument;
    atomic_store_explicit(&call->waiting, targets, memory_order_relaxed);
    ask(cpu, targets, urgent_of);
    /* Acquire: pairs with the targets' release. */
    for (uint64_t turns = 1; atomic_load_explicit(&call->waiting, memory_order_acquire); turns++) {
        smp_poll();
        watchdog_spin(turns);
        arch_relax();
    }
}

static inline void handle_kind(uint32_t kind)
{
    if (kind == IPI_SHOOTDOWN) {
        tlb_handle_request();
    } else if (kind == IPI_CALL) {
        smp_poll();
        handle_requests();
        debugger_poll();
    } else if (kind == IPI_STOP) {
        arch_stop_forever();
    } else if (kind == IPI_RESCHEDULE) {
        trace_wake_drain();
    }
    /* The rest of IPI_RESCHEDULE: need_resched is set, and tested at the kernel exit. */
}

static __attribute__((noinline, cold)) void handle_measured(uint32_t kind)
{
    uint64_t logged = trace_irq_ipi_entry(kind);
    if (ROUTINES_ON())
        routines_begin_interrupt(TRACE_ROUTINE_IPI, kind, routines_time(logged));
    handle_kind(kind);
    logged = trace_irq_ipi_exit(kind);
    if (ROUTINES_ON())
        routines_end_interrupt(routines_time(logged));
}

void handle_ipi(uint32_t kind)
{
    handle_wake();
    if (ROUTINES_OR(TRACE_CLASS_IRQ))
        handle_measured(kind);
    else
        handle_kind(kind);
}
