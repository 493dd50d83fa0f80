/* SPDX-License-Identifier: BSD-2-Clause */
/* arch/x86_64/offsets.c - offsets of C structures for entry.S and start.S; see arch/offsets.h. */
#include "port.h"
#include <arch/frame.h>
#include <arch/offsets.h>
#include <kernel/cpu/cpu.h>
#include <kernel/sched/thread.h>
#include <trace/syscall.h>

#define FRAME(name, field) DEFINE(FRAME_##name, offsetof(struct arch_frame, field))

void offsets(void)
{
    FRAME(RAX, rax);
    FRAME(RBX, rbx);
    FRAME(RCX, rcx);
    FRAME(RDX, rdx);
    FRAME(RSI, rsi);
    FRAME(RDI, rdi);
    FRAME(RBP, rbp);
    FRAME(RSP, rsp);
    FRAME(R8, r8);
    FRAME(R9, r9);
    FRAME(R10, r10);
    FRAME(R11, r11);
    FRAME(R12, r12);
    FRAME(R13, r13);
    FRAME(R14, r14);
    FRAME(R15, r15);
    FRAME(RIP, rip);
    FRAME(RFLAGS, rflags);
    FRAME(INTERRUPTED, interrupted);
    DEFINE(CPU_SIZE, sizeof(struct cpu));
    DEFINE(CPU_CURRENT, offsetof(struct cpu, current));
    DEFINE(CPU_KERNEL_STACK, offsetof(struct cpu, kernel_stack_top));
    DEFINE(CPU_SCRATCH, offsetof(struct cpu, scratch));
    DEFINE(CPU_WINDOW, offsetof(struct cpu, profile.window));
    DEFINE(CPU_NEED_RESCHED, offsetof(struct cpu, need_resched));
    DEFINE(BOOT_INFO_CPU_COUNT, offsetof(struct boot_info, cpu_count));
    DEFINE(BOOT_INFO_HARDWARE_ID, offsetof(struct boot_info, cpu_hardware_id));
    DEFINE(SYSCALL_SITE, TRACE_ID(TRACE_CLASS_SYSCALL, TRACE_SITE_SPAN));
}

_Static_assert(offsetof(struct cpu, block.self) == 0, "this_cpu()");
