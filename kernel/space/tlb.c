/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tlb.c - TLB shootdown: makes other CPUs drop translations.
 *
 * The initiator has changed the tables under the space's lock. It writes its request, sets its bit in
 * shootdown_pending of each CPU that runs the space, and interrupts these. A target flushes and clears its
 * bit in the request's `waiting`. A CPU that spins in the kernel, with interrupts off, polls for requests;
 * therefore locks may be held.
 *
 * Loading tables drops translations (arch_space_switch), so a CPU is asked only while they are loaded.
 * space->cpus has the CPUs that ever loaded them; cpu->space says what is loaded now. An idle CPU leaves
 * its last space before it sleeps, so nobody waits for it to wake up.
 */
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/smp_call.h>
#include <kernel/diagnosis/watchdog.h>
#include <kernel/kernel.h>
#include <kernel/space/space.h>
#include <trace/irq.h>
#include <trace/tlb.h>

#define FLUSH_ALL_PAGES 32 /* more pages than this: flush everything */

static struct request {
    struct space *space;
    uint64_t address, count;  /* pages; 0: everything */
    _Atomic uint64_t waiting; /* CPUs that have not finished */
} requests[CPUS_MAX];         /* by initiator: one at a time */

/* Out of line: runs once per CPU and space, and the switch counts instructions. */
__attribute__((cold)) void space_add_cpu(struct space *space, struct cpu *cpu)
{
    atomic_fetch_or_explicit(&space->cpus, cpu->bit, memory_order_relaxed); /* ordered in space_activate */
}

static void flush(uint64_t address, uint64_t count)
{
    if (count == 0) {
        arch_tlb_flush_all();
        return;
    }
    for (uint64_t i = 0; i < count; i++)
        arch_tlb_flush_page(address + i * FRAME_SIZE);
}

/* A CPU without a thread may still have the tables loaded. It unloads them, because the space may be about
 * to free them. */
static void unload_if_idle(struct cpu *cpu, struct space *space)
{
    if (cpu->space == space && cpu->current == cpu->idle)
        space_unload(cpu);
}

void tlb_handle_request(void)
{
    struct cpu *cpu = this_cpu();
    if (atomic_load_explicit(&cpu->shootdown_pending, memory_order_relaxed) == 0)
        return;
    /* Acquire: pairs with the initiator's release when it set the bit; its request is written. */
    uint64_t pending = atomic_exchange_explicit(&cpu->shootdown_pending, 0, memory_order_acquire);
    while (pending) {
        unsigned from = (unsigned)__builtin_ctzll(pending);
        struct request *request = &requests[from];
        pending &= pending - 1;
        unload_if_idle(cpu, request->space);
        if (cpu->space == request->space) {
            flush(request->address, request->count);
            trace_tlb_flush(request->address, (uint32_t)request->count, from);
        }
        /* Release: the flush is done before the initiator sees the bit clear. */
        atomic_fetch_and_explicit(&request->waiting, ~(1ull << cpu->index), memory_order_release);
    }
}

/* Other CPUs that may hold translations of the space, whose tables have been changed. */
static uint64_t find_users(struct cpu *cpu, struct space *space)
{
    /* Orders the change before these loads: pairs with space_activate. */
    atomic_thread_fence(memory_order_seq_cst);
    uint64_t users = 0;
    for (uint64_t left = atomic_load_explicit(&space->cpus, memory_order_relaxed) & ~cpu->bit; left;
         left &= left - 1) {
        struct cpu *other = &cpus[__builtin_ctzll(left)];
        /* Acquire: a CPU that is seen to have left has left. */
        struct space *loaded = __atomic_load_n(&other->space, __ATOMIC_ACQUIRE);
        if (loaded == space || loaded == SPACE_CHANGING)
            users |= other->bit;
    }
    return users;
}

static void ask(struct cpu *cpu, uint64_t targets)
{
    for (uint64_t left = targets; left; left &= left - 1) {
        struct cpu *target = &cpus[__builtin_ctzll(left)];
        /* Release: publishes requests[cpu->index] to the target's exchange. */
        atomic_fetch_or_explicit(&target->shootdown_pending, 1ull << cpu->index, memory_order_release);
        trace_irq_ipi_send(target->index, IPI_SHOOTDOWN);
        arch_send_ipi(target, IPI_SHOOTDOWN);
    }
}

uint64_t tlb_unanswered(const struct cpu *cpu)
{
    return atomic_load_explicit(&requests[cpu->index].waiting, memory_order_relaxed);
}

void tlb_shootdown(struct space *space, uint64_t address, uint64_t size)
{
    struct cpu *cpu = this_cpu();
    uint64_t count = size / FRAME_SIZE;
    if (count > FLUSH_ALL_PAGES)
        count = 0;
    if (cpu->space == space)
        flush(address, count);
    uint64_t targets = find_users(cpu, space);
    if (!targets)
        return;
    uint64_t begin = arch_clock();
    trace_tlb_shootdown_begin(targets, address, (uint32_t)count, space->pid);
    struct request *request = &requests[cpu->index];
    request->space = space;
    request->address = address;
    request->count = count;
    atomic_store_explicit(&request->waiting, targets, memory_order_relaxed);
    ask(cpu, targets);
    /* Acquire: pairs with the targets' release; after it no stale translation is used. */
    for (uint64_t turns = 1; atomic_load_explicit(&request->waiting, memory_order_acquire); turns++) {
        smp_poll();
        watchdog_spin(turns);
        arch_relax();
    }
    trace_tlb_shootdown_end(arch_clock() - begin);
}
