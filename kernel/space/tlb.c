/*
 * tlb.c - TLB shootdown: makes other CPUs drop translations.
 *
 * The initiator has changed the tables under the space's lock. It calls each CPU that runs the space
 * (smp_call_urgently); a CPU that spins in the kernel with interrupts off answers, too.
 *
 * Loading tables drops translations (arch_space_switch), so a CPU is asked only while they are loaded.
 * space->cpus has the CPUs that ever loaded them, cpu->space the space that is loaded now. An idle CPU leaves
 * its last space before it sleeps, so nobody waits for it to wake up.
 */
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/smp_call.h>
#include <kernel/kernel.h>
#include <kernel/space/space.h>
#include <trace/tlb.h>

#define FLUSH_ALL_PAGES 32 /* more pages than this: flush everything */

struct request {
    struct space *space;
    uint64_t address, count; /* pages; 0: everything */
    uint32_t from;           /* CPU */
};

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

static void answer(void *argument)
{
    const struct request *request = argument;
    struct cpu *cpu = this_cpu();
    /* A CPU without a thread may still have the tables loaded: the space may be about to free them. */
    if (cpu->space == request->space && cpu->current == cpu->idle)
        space_unload(cpu);
    if (cpu->space == request->space) {
        flush(request->address, request->count);
        trace_tlb_flush(request->address, (uint32_t)request->count, request->from);
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
    struct request request = {space, address, count, cpu->index};
    smp_call_urgently(IPI_SHOOTDOWN, targets, answer, &request);
    trace_tlb_shootdown_end(arch_clock() - begin);
}
