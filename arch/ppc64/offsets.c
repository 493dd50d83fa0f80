/* arch/ppc64/offsets.c - offsets of C structures for entry.S and start.S; see arch/offsets.h. */
#include "port.h"
#include <arch/frame.h>
#include <arch/offsets.h>
#include <kernel/cpu/cpu.h>
#include <kernel/sched/thread.h>
#include <trace/format/layout.h>
#include <trace/syscall.h>

#define FRAME(name, field) DEFINE(FRAME_##name, offsetof(struct arch_frame, field))
#define REGS(name, field)  DEFINE(REGS_##name, offsetof(struct kernel_regs, field))
#define CPU(name, field)   DEFINE(CPU_##name, offsetof(struct cpu, field))

void offsets(void)
{
    FRAME(GPR, gpr);
    FRAME(NIP, nip);
    FRAME(MSR, msr);
    FRAME(LR, lr);
    FRAME(CR, cr);
    FRAME(CTR, ctr);
    FRAME(XER, xer);
    FRAME(INTERRUPTED, interrupted);
    REGS(GPR, gpr);
    REGS(NIP, nip);
    REGS(MSR, msr);
    REGS(LR, lr);
    REGS(CR, cr);
    REGS(CTR, ctr);
    REGS(XER, xer);
    REGS(VECTOR, vector);
    DEFINE(REGS_BYTES, sizeof(struct kernel_regs));
    CPU(CURRENT, current);
    CPU(KERNEL_STACK, kernel_stack_top);
    CPU(SCRATCH, scratch);
    CPU(NEED_RESCHED, need_resched);
    CPU(TOC, arch.toc);
    CPU(SPECIAL_STACK, arch.special_stack_top);
    CPU(SPECIAL_SAVE, arch.special_save);
    DEFINE(SYSCALL_SITE, TRACE_ID(TRACE_CLASS_SYSCALL, TRACE_SITE_SPAN));
}

_Static_assert(offsetof(struct arch_frame, interrupted) + 4 == offsetof(struct arch_frame, cr),
               "restore: one load");
