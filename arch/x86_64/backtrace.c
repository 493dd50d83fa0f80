/* SPDX-License-Identifier: BSD-2-Clause */
/* arch/x86_64/backtrace.c - call chains along frame pointers, which all code is compiled with. A frame is the
 * caller's frame pointer, then the return address; the entry code starts chains with 0. */
#include <arch/user.h>
#include <kernel/cpu/cpu.h>
#include <kernel/sched/thread.h>
#include <tarn/abi.h>

struct call_frame {
    uint64_t next, return_address;
};

/* Reads only this CPU's stacks, and goes only upwards, so it ends and never faults. */
uint32_t arch_backtrace(uint64_t *chain, uint32_t max)
{
    const struct arch_cpu *arch = &this_cpu()->arch;
    uint64_t at = (uint64_t)__builtin_frame_address(0);
    uint32_t n = 0;
    while (n < max && at % 8 == 0 && at >= arch->stack_low &&
           at + sizeof(struct call_frame) <= arch->stack_high) {
        const struct call_frame *frame = (const struct call_frame *)at;
        chain[n++] = frame->return_address;
        if (frame->next <= at)
            break;
        at = frame->next;
    }
    return n;
}

/* The thread's space must be loaded. A missing page ends the chain: nothing is brought in. */
uint32_t arch_backtrace_user(const struct thread *thread, uint64_t *chain, uint32_t max)
{
    struct cpu *cpu = this_cpu();
    uint64_t at = thread->frame.rbp;
    uint32_t n = 0;
    if (n < max)
        chain[n++] = thread->frame.rip;
    cpu->copies_present_only = true;
    while (n < max) {
        struct call_frame frame;
        if (arch_copy_from_user(&frame, (const void *)at, sizeof(frame)) || !frame.return_address)
            break;
        chain[n++] = frame.return_address;
        if (frame.next <= at)
            break;
        at = frame.next;
    }
    cpu->copies_present_only = false;
    return n;
}
