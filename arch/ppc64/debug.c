/* arch/ppc64/debug.c - registers for the kernel's debugger. Call chains: backtrace.c; stopping a CPU: xics.c;
 * entering: trap.c. */
#include "port.h"
#include <arch/debug.h>
#include <arch/frame.h>
#include <kernel/cpu/cpu.h>

uint64_t arch_trap_ip(const struct kernel_regs *regs)
{
    return regs->nip;
}

uint32_t arch_trap_vector(const struct kernel_regs *regs)
{
    return (uint32_t)regs->vector;
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
    regs.nip = *(const uint64_t *)(regs.gpr[1] + STACK_RETURN_ADDRESS);
    function(&regs, argument);
}
