/* SPDX-License-Identifier: BSD-2-Clause */
/* arch/ppc64/backtrace.c - call chains along the back chain, which the ABI requires of every function that
 * makes a frame. A frame begins with a pointer to its caller's; the called function stores its return address
 * in its caller's frame. */
#include "port.h"
#include <arch/user.h>
#include <kernel/cpu/cpu.h>
#include <kernel/sched/thread.h>
#include <tarn/abi.h>

struct call_frame {
    uint64_t back_chain, cr, return_address; /* the last: of the function whose back chain points here */
};

extern const char trap_resume[]; /* entry.S: where trap_from_kernel and trap_special return to */

static bool is_inside(const struct arch_cpu *arch, uint64_t at)
{
    return at % 8 == 0 && at >= arch->stack_low && at + sizeof(struct call_frame) <= arch->stack_high;
}

/* Continues at a trap: the interrupted address, and the caller of a function that makes no frame, which is
 * only in LR. For other functions LR may hold anything, usually an address in the function itself, or an
 * address that the chain has too. */
static uint32_t put_interrupted(uint64_t *chain, uint32_t n, uint32_t max, uint64_t nip, uint64_t lr)
{
    if (n < max)
        chain[n++] = nip;
    if (n < max && lr)
        chain[n++] = lr;
    return n;
}

/* Reads only this CPU's stacks, and goes only upwards except at a trap, which may have changed stacks; so it
 * ends and never faults. */
uint32_t arch_backtrace(uint64_t *chain, uint32_t max)
{
    const struct arch_cpu *arch = &this_cpu()->arch;
    uint64_t at = *(const uint64_t *)__builtin_frame_address(0), told = 0;
    uint32_t n = 0;
    if (n < max)
        chain[n++] = (uint64_t)__builtin_return_address(0);
    if (is_inside(arch, at)) /* its place for that address may be unused */
        at = ((const struct call_frame *)at)->back_chain;
    while (n < max && is_inside(arch, at)) {
        const struct call_frame *frame = (const struct call_frame *)at;
        bool trapped = frame->return_address == (uint64_t)trap_resume;
        if (trapped) {
            const struct kernel_regs *regs = (const struct kernel_regs *)(at + STACK_FRAME_BYTES);
            n = put_interrupted(chain, n, max, regs->nip, regs->lr);
            told = regs->lr;
        } else {
            if (frame->return_address != told)
                chain[n++] = frame->return_address;
            told = 0;
        }
        if (frame->back_chain <= at && !trapped)
            break;
        at = frame->back_chain;
    }
    return n;
}

/* The thread's space must be loaded. A missing page ends the chain: nothing is brought in. */
uint32_t arch_backtrace_user(const struct thread *thread, uint64_t *chain, uint32_t max)
{
    struct cpu *cpu = this_cpu();
    uint64_t at = frame_sp(&thread->frame), told = thread->frame.lr;
    uint32_t n = put_interrupted(chain, 0, max, thread->frame.nip, thread->frame.lr);
    struct call_frame frame;
    cpu->copies_present_only = true;
    if (!arch_copy_from_user(&frame, (const void *)at, sizeof frame.back_chain)) {
        while (n < max && frame.back_chain > at) {
            at = frame.back_chain;
            if (arch_copy_from_user(&frame, (const void *)at, sizeof frame))
                break;
            /* An interrupted function may have a frame but not have stored LR there yet. */
            if (!frame.return_address && !told)
                break;
            if (frame.return_address && frame.return_address != told)
                chain[n++] = frame.return_address;
            told = 0;
        }
    }
    cpu->copies_present_only = false;
    return n;
}
