/*
 * smp_call.c - runs functions on other CPUs. Interface: smp_call.h.
 *
 * The caller sets its bit in `pending` of each target and interrupts these; a target clears its bit in the
 * call's `waiting`. A CPU that spins for a lock handles only urgent calls: other calls may do anything that
 * an interrupt handler may.
 */
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/smp_call.h>
#include <trace/irq.h>

struct cpu cpus[CPUS_MAX];
uint32_t cpu_count = 1;
void (*cpu_spins)(void);

static struct calls {
    _Atomic uint64_t pending[CPUS_MAX]; /* by target: CPUs that wait for it */
    struct call {
        void (*function)(void *argument);
        void *argument;
        _Atomic uint64_t waiting; /* CPUs that have not finished */
    } by[CPUS_MAX];               /* by caller: one at a time */
} calls, urgent_calls;

static void handle_calls(struct calls *these)
{
    const struct cpu *cpu = this_cpu();
    _Atomic uint64_t *pending_here = &these->pending[cpu->index];
    if (atomic_load_explicit(pending_here, memory_order_relaxed) == 0)
        return;
    /* Acquire: pairs with the release in call(); the caller's request is written. */
    uint64_t pending = atomic_exchange_explicit(pending_here, 0, memory_order_acquire);
    for (; pending; pending &= pending - 1) {
        struct call *call = &these->by[__builtin_ctzll(pending)];
        call->function(call->argument);
        /* Release: the caller sees what the function did. */
        atomic_fetch_and_explicit(&call->waiting, ~cpu->bit, memory_order_release);
    }
}

void smp_poll(void)
{
    handle_calls(&urgent_calls);
}

void smp_answer(void)
{
    handle_calls(&urgent_calls);
    handle_calls(&calls);
}

static void call(struct calls *these, enum ipi_kind kind, uint64_t targets, void (*function)(void *argument),
                 void *argument)
{
    const struct cpu *cpu = this_cpu();
    struct call *call = &these->by[cpu->index];
    call->function = function;
    call->argument = argument;
    atomic_store_explicit(&call->waiting, targets, memory_order_relaxed);
    for (uint64_t left = targets; left; left &= left - 1) {
        struct cpu *target = &cpus[__builtin_ctzll(left)];
        /* Release: publishes the call to the target's exchange. */
        atomic_fetch_or_explicit(&these->pending[target->index], cpu->bit, memory_order_release);
        trace_irq_ipi_send(target->index, kind);
        arch_send_ipi(target, kind);
    }
    /* Acquire: pairs with the targets' release. Two CPUs may call each other, so handle requests here. */
    for (uint64_t turns = 1; atomic_load_explicit(&call->waiting, memory_order_acquire); turns++) {
        smp_poll();
        cpu_spin(turns);
        handle_calls(these);
        arch_relax();
    }
}

void smp_call(uint64_t targets, void (*function)(void *argument), void *argument)
{
    call(&calls, IPI_CALL, targets, function, argument);
}

void smp_call_urgently(enum ipi_kind kind, uint64_t targets, void (*function)(void *argument), void *argument)
{
    call(&urgent_calls, kind, targets, function, argument);
}

uint64_t smp_unanswered(const struct cpu *cpu)
{
    return atomic_load_explicit(&calls.by[cpu->index].waiting, memory_order_relaxed) |
           atomic_load_explicit(&urgent_calls.by[cpu->index].waiting, memory_order_relaxed);
}
