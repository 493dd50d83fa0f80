/* SPDX-License-Identifier: BSD-2-Clause */
/* arch/ppc64/debug.c - registers and call chains for the kernel's debugger. Chains follow the back chain;
 * backtrace.c explains them. Stopping a CPU: xics.c; entering: trap.c. */
#include "port.h"
#include <arch/debug.h>
#include <kernel/cpu/cpu.h>
#include <kernel/sched/thread.h>
#include <stddef.h>

uint64_t arch_trap_ip(const struct kernel_regs *regs)
{
    return regs->nip;
}

bool arch_trap_of_user(const struct kernel_regs *regs)
{
    return regs->msr & MSR_PR;
}

bool arch_trap_was_interruptible(const struct kernel_regs *regs)
{
    return regs->msr & MSR_EE;
}

static void print_registers(const uint64_t *gpr, arch_print *print)
{
    for (unsigned i = 0; i < 32; i += 4)
        print("r%-2u %016lx %016lx %016lx %016lx\n", i, gpr[i], gpr[i + 1], gpr[i + 2], gpr[i + 3]);
}

void arch_print_trap(const struct kernel_regs *r, arch_print *print)
{
    print("nip %016lx msr %016lx dar %016lx dsisr %08lx\n", r->nip, r->msr, r->dar, r->dsisr);
    print("lr  %016lx ctr %016lx xer %016lx cr %08lx\n", r->lr, r->ctr, r->xer, r->cr);
    print_registers(r->gpr, print);
}

void arch_print_frame(const struct arch_frame *f, arch_print *print)
{
    print("nip %016lx msr %016lx lr %016lx cr %08x, %s\n", f->nip, f->msr, f->lr, f->cr,
          f->interrupted ? "interrupted" : "in a system call: ctr and xer are lost");
    print("ctr %016lx xer %016lx\n", f->ctr, f->xer);
    print_registers(f->gpr, print);
}

#define RETURN_ADDRESS 16 /* offset in a frame: back chain, CR, this */

void arch_with_caller(const void *frame, void (*function)(struct kernel_regs *regs, void *argument),
                      void *argument)
{
    struct kernel_regs regs = {0};
    __asm__ volatile("number = 14\n\t.rept 18\n\tstd number, 8 * number(%1)\n\tnumber = number + 1\n\t.endr"
                     : "=m"(regs.gpr)
                     : "b"(regs.gpr));
    __asm__ volatile("std 2, 16(%1)\n\tstd 13, 104(%1)\n\tmfmsr %0"
                     : "=&r"(regs.msr)
                     : "b"(regs.gpr)
                     : "memory");
    regs.gpr[1] = *(const uint64_t *)frame;
    regs.nip = *(const uint64_t *)(regs.gpr[1] + RETURN_ADDRESS);
    function(&regs, argument);
}

extern const char trap_resume[]; /* entry.S: here a stack has a struct kernel_regs */

struct walk {
    arch_read_word *read;
    void *context;
    uint64_t *chain;
    uint32_t count, max;
    uint64_t told; /* value of LR already in the chain, for a function that made a frame */
};

static void put(struct walk *walk, uint64_t address)
{
    if (walk->count < walk->max)
        walk->chain[walk->count++] = address;
}

static void put_interrupted(struct walk *walk, uint64_t nip, uint64_t lr)
{
    put(walk, nip);
    if (lr)
        put(walk, lr);
    walk->told = lr;
}

static bool put_trap(struct walk *walk, uint64_t frame)
{
    uint64_t nip, lr, regs = frame + STACK_FRAME_BYTES;
    if (!walk->read(walk->context, regs + offsetof(struct kernel_regs, nip), &nip) ||
        !walk->read(walk->context, regs + offsetof(struct kernel_regs, lr), &lr))
        return false;
    put_interrupted(walk, nip, lr);
    return true;
}

static uint32_t follow(struct walk *walk, uint64_t at)
{
    uint64_t next, address;
    if (!walk->read(walk->context, at, &next))
        return walk->count;
    while (walk->count < walk->max && next && next % 8 == 0 && next != at) {
        at = next;
        if (!walk->read(walk->context, at, &next) ||
            !walk->read(walk->context, at + RETURN_ADDRESS, &address))
            break;
        bool trapped = address == (uint64_t)trap_resume;
        if (trapped ? !put_trap(walk, at) : !address)
            break;
        if (!trapped) {
            if (address != walk->told)
                put(walk, address);
            walk->told = 0;
            if (next <= at)
                break;
        }
    }
    return walk->count;
}

uint32_t arch_trap_calls(const struct kernel_regs *regs, arch_read_word *read, void *context, uint64_t *chain,
                         uint32_t max)
{
    struct walk walk = {.read = read, .context = context, .chain = chain, .max = max};
    put_interrupted(&walk, regs->nip, regs->lr);
    return follow(&walk, regs->gpr[1]);
}

uint32_t arch_frame_calls(const struct arch_frame *frame, arch_read_word *read, void *context,
                          uint64_t *chain, uint32_t max)
{
    struct walk walk = {.read = read, .context = context, .chain = chain, .max = max};
    put_interrupted(&walk, frame->nip, frame->lr);
    return follow(&walk, frame_sp(frame));
}

uint64_t arch_trap_caller(const struct kernel_regs *regs, arch_read_word *read, void *context)
{
    (void)regs, (void)read, (void)context;
    return 0;
}

uint64_t arch_frame_caller(const struct arch_frame *frame, arch_read_word *read, void *context)
{
    (void)frame, (void)read, (void)context;
    return 0;
}

bool arch_is_on_stack(const struct cpu *cpu, uint64_t address)
{
    return address >= cpu->arch.stack_low && address < cpu->arch.stack_high;
}
