/* SPDX-License-Identifier: BSD-2-Clause */
/* calls.c - prints call chains, for the debugger and for reports. */
#include <arch/debug.h>
#include <kernel/debug/debug.h>
#include <kernel/debug/debugger.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>

#define CHAIN_MAX 32

static void print_chain(const uint64_t *chain, uint32_t count, const struct space *space, bool is_called,
                        arch_print *print)
{
    static char symbol[160]; /* one report or session at a time */
    for (uint32_t i = 0; i < count; i++) {
        debugger_symbol(symbol, sizeof symbol, space, chain[i], i || is_called);
        print("  %016lx %s\n", chain[i], symbol);
    }
}

void debugger_print_kernel_calls(struct cpu *cpu, const struct kernel_regs *regs, arch_print *print)
{
    uint64_t chain[CHAIN_MAX];
    uint32_t count = arch_trap_calls(regs, cpu_read_stack, cpu, chain, CHAIN_MAX);
    print("kernel call chain of cpu %u:\n", cpu->index);
    print_chain(chain, count, NULL, false, print);
}

void debugger_print_user_calls(const struct thread *thread, const struct kernel_regs *regs, arch_print *print)
{
    uint64_t chain[CHAIN_MAX];
    struct space *space = thread->space;
    bool called = !regs && frame_is_syscall(&thread->frame); /* the first address is a return address, too */
    uint32_t count = regs ? arch_trap_calls(regs, debug_read_user_word, space, chain, CHAIN_MAX)
                          : arch_frame_calls(&thread->frame, debug_read_user_word, space, chain, CHAIN_MAX);
    print("user call chain of %s in %s:\n", debug_thread_name(thread), debug_space_name(space));
    print_chain(chain, count, space, called, print);
}
