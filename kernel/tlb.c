/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/tlb.c - shootdown: making other CPUs forget translations.
 *
 * The initiator has changed the tables (under the space's lock), looks which CPUs run the space, writes
 * one request of its own, marks itself in each target's shootdown_pending, and interrupts them. A target
 * flushes and takes its bit out of the request's `waiting`. Interrupts are off in the kernel, so whoever
 * spins - here, or for a lock (lock.c) - answers pending requests by polling; that is why locks may be held.
 *
 * To load tables is to forget translations (arch_space_switch), so a CPU has to be asked only while
 * they are loaded: those in space->cpus have been since the space began, and cpu->space says whether they are
 * now. An idle CPU leaves its last space before it sleeps, so that nobody waits for it to wake up.
 */
#include <arch/clock.h>
#include <kernel/cpu.h>
#include <kernel/kernel.h>
#include <kernel/space.h>
#include <kernel/watchdog.h>
#include <trace/irq.h>
#include <trace/tlb.h>

#define FLUSH_ALL_PAGES 32 /* more than so many pages: forget everything */

static struct request {
    struct space *space;
    uint64_t address, count;  /* pages; count 0: everything */
    _Atomic uint64_t waiting; /* CPUs that have not answered */
} requests[CPUS_MAX];         /* by initiator: one at a time, it waits for the end */

/* Out of line: once for each CPU, and the switch counts its instructions. */
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

/* A CPU without a thread may still have the last space's tables loaded; it lets go when asked, also
 * because the space may be about to free them. */
static void leave_if_idle(struct cpu *cpu, struct space *space)
{
    if (cpu->space == space && cpu->current == cpu->idle)
        space_leave(cpu);
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
        leave_if_idle(cpu, request->space);
        if (cpu->space == request->space) {
            flush(request->address, request->count);
            trace_tlb_flush(request->address, (uint32_t)request->count, from);
        }
        /* Release: the flush is done before the initiator sees the answer. */
        atomic_fetch_and_explicit(&request->waiting, ~(1ull << cpu->index), memory_order_release);
    }
}

/* Others that may hold translations of the space. The tables have been changed. */
static uint64_t find_users(struct cpu *cpu, struct space *space)
{
    /* The change before the looks: pairs with space_activate. */
    atomic_thread_fence(memory_order_seq_cst);
    uint64_t users = 0;
    for (uint64_t left = atomic_load_explicit(&space->cpus, memory_order_relaxed) & ~cpu->bit; left;
         left &= left - 1) {
        struct cpu *other = &cpus[__builtin_ctzll(left)];
        /* Acquire: who is seen to have left has left. */
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
        tlb_handle_request();
        watchdog_spin(turns);
        arch_relax();
    }
    trace_tlb_shootdown_end(arch_clock() - begin);
}
