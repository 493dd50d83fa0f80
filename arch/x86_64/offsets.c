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
    FRAME(RCX, rcx);
    FRAME(RDI, rdi);
    FRAME(RSP, rsp);
    FRAME(R11, r11);
    FRAME(RIP, rip);
    FRAME(RFLAGS, rflags);
    FRAME(INTERRUPTED, interrupted);
    DEFINE(CPU_SIZE, sizeof(struct cpu));
    DEFINE(CPU_CURRENT, offsetof(struct cpu, current));
    DEFINE(CPU_KERNEL_STACK, offsetof(struct cpu, kernel_stack_top));
    DEFINE(CPU_SCRATCH, offsetof(struct cpu, scratch));
    DEFINE(CPU_NEED_RESCHED, offsetof(struct cpu, need_resched));
    DEFINE(BOOT_INFO_CPU_COUNT, offsetof(struct boot_info, cpu_count));
    DEFINE(BOOT_INFO_HARDWARE_ID, offsetof(struct boot_info, cpu_hardware_id));
    DEFINE(SYSCALL_SITE, TRACE_ID(TRACE_CLASS_SYSCALL, TRACE_SITE_SPAN));
}

_Static_assert(offsetof(struct cpu, block.self) == 0, "this_cpu()");
_Static_assert(offsetof(struct arch_frame, rbp) - offsetof(struct arch_frame, rdi) == 11 * 8, "STORE_FRAME");
