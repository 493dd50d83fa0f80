/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch/ppc64/backtrace.c - return addresses by the back chain, which the ABI demands of every function that
 * makes a frame. A frame begins with its caller's; what is called stores its return address in its caller's
 * frame.
 */
#include "port.h"
#include <arch/user.h>
#include <kernel/cpu.h>
#include <kernel/thread.h>
#include <tarn/abi.h>

struct call_frame {
    uint64_t back_chain, cr, return_address; /* the last: of the function whose frame leads here */
};

extern const char trap_resume[]; /* entry.S: where trap_from_kernel and trap_special return to */

static bool is_inside(const struct arch_cpu *arch, uint64_t at)
{
    return at % 8 == 0 && at >= arch->stack_low && at + sizeof(struct call_frame) <= arch->stack_high;
}

/* The way on from a trap: where it interrupted, and the caller of a function that makes no frame, which is
 * only in LR. Of others LR may hold anything, mostly an address in the function itself, or what the chain
 * tells again. */
static uint32_t put_interrupted(uint64_t *chain, uint32_t n, uint32_t max, uint64_t nip, uint64_t lr)
{
    if (n < max)
        chain[n++] = nip;
    if (n < max && lr)
        chain[n++] = lr;
    return n;
}

/* Looks only inside this processor's stacks, and only upwards but at a trap, which may have changed stacks;
 * it ends and never faults. */
uint32_t arch_backtrace(uint64_t *chain, uint32_t max)
{
    const struct arch_cpu *arch = &this_cpu()->arch;
    uint64_t at = *(const uint64_t *)__builtin_frame_address(0), told = 0;
    uint32_t n = 0;
    if (n < max)
        chain[n++] = (uint64_t)__builtin_return_address(0);
    if (is_inside(arch, at)) /* it has a place for that address, which need not be in it */
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

/* The thread's space must be loaded. Pages that are not there end the chain: nothing is brought in. */
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
            /* Who was interrupted may have a frame and LR not in its place yet, which nobody wrote before. */
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
