/*
 * arch/x86_64/trap.c - handles exceptions and interrupts.
 *
 * entry.S calls one of three functions, all with interrupts off:
 *
 * - trap_from_user: the registers are in current->frame;
 * - trap_from_kernel: the idle loop's wait, faults of user copies; anything else is a bug;
 * - trap_special: NMI, double fault, machine check.
 */
#include "port.h"
#include "x86.h"
#include <arch/fixup.h>
#include <arch/machine.h>
#include <kernel/cpu/cpu.h>
#include <kernel/debug/debugger.h>
#include <kernel/diagnosis/profile.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <kernel/trace/restart.h>
#include <stdatomic.h>
#include <tarn/abi.h>

_Static_assert(USER_END == 0x600000000000, "user_copy.S");

/* ---- interrupts ----------------------------------------------------------------------------------- */

static void dispatch_interrupt(uint64_t vector, uint64_t ip)
{
    if (vector == VECTOR_TIMER) {
        apic_end();
        apic_timer_expired();
    } else if (vector >= VECTOR_IPI_FIRST && vector < VECTOR_IPI_FIRST + IPI_KINDS) {
        apic_end();
        handle_ipi((uint32_t)vector - VECTOR_IPI_FIRST);
    } else if (vector < VECTOR_IRQ_FIRST + ARCH_IRQ_COUNT) {
        handle_interrupt((uint32_t)vector - VECTOR_IRQ_FIRST, ip);
    } /* else spurious: must not be acknowledged */
}

/* ---- page faults ---------------------------------------------------------------------------------- */

#define PF_WRITE    2u
#define PF_RESERVED 8u
#define PF_FETCH    16u

static uint32_t access_of(uint64_t error)
{
    return (error & PF_WRITE ? FAULT_ACCESS_WRITE : 0) | (error & PF_FETCH ? FAULT_ACCESS_EXECUTE : 0);
}

/* ---- from user mode ------------------------------------------------------------------------------- */

static const uint8_t fault_reasons[32] = {
    [0] = FAULT_ARITHMETIC, [1] = FAULT_BREAKPOINT,  [3] = FAULT_BREAKPOINT, [4] = FAULT_ARITHMETIC,
    [6] = FAULT_ILLEGAL,    [16] = FAULT_ARITHMETIC, [17] = FAULT_ALIGNMENT, [19] = FAULT_ARITHMETIC,
}; /* all others: FAULT_PROTECTION */

#define VECTOR_INVALID_OPCODE 6

void trap_from_user(uint64_t vector, uint64_t error)
{
    struct arch_frame *frame = &this_cpu()->current->frame;
    if (__builtin_expect(trace_is_in_block(frame->rip), 0)) {
        if (vector == VECTOR_INVALID_OPCODE) {
            frame->rip = trace_asked(frame->rip);
            return;
        }
        frame->rip = trace_restart(frame->rip);
    }
    uint64_t ip = frame_ip(frame);
    if (vector >= VECTOR_IRQ_FIRST) {
        dispatch_interrupt(vector, ip);
        return;
    }
    if (vector == VECTOR_PAGE_FAULT && !(error & PF_RESERVED)) {
        handle_page_fault(read_cr2(), access_of(error), ip, false);
        return;
    }
    uint32_t reason = fault_reasons[vector] ? fault_reasons[vector] : FAULT_PROTECTION;
    handle_exception((uint32_t)vector, reason, error, ip);
}

/* ---- from kernel mode ----------------------------------------------------------------------------- */

/* Nothing is mapped below a kernel stack, so an overflow faults, and pushing that fault faults again. */
static bool overflows_stack(const struct kernel_regs *r)
{
    return r->vector == VECTOR_DOUBLE_FAULT && this_cpu()->stack_low - read_cr2() <= CPU_STACKS_BYTES;
}

static void __attribute__((noreturn)) fail(struct kernel_regs *r)
{
    debugger_fault(r->rip, r->vector == VECTOR_PAGE_FAULT ? read_cr2() : 0);
    if (overflows_stack(r))
        panic_trap(r, "kernel stack overflow at %lx", r->rip);
    if (r->vector == VECTOR_PAGE_FAULT)
        panic_trap(r, "exception %lu in the kernel at %lx, address %#lx, error %lx", r->vector, r->rip,
                   read_cr2(), r->error);
    panic_trap(r, "exception %lu in the kernel at %lx", r->vector, r->rip);
}

/* In a window for samples of the kernel (kernel/diagnosis/profile.h), which this ends. */
static void sample_kernel(struct kernel_regs *regs)
{
    if (regs->vector != VECTOR_TIMER)
        return; /* spurious */
    apic_end();
    profile_kernel(regs);
    regs->rflags &= ~RFLAGS_INTERRUPTS;
}

void trap_from_kernel(struct kernel_regs *regs)
{
    regs->rip = trace_restart(regs->rip);
    if (regs->vector >= VECTOR_IRQ_FIRST && this_cpu()->profile.window)
        sample_kernel(regs);
    else if (regs->vector >= VECTOR_IRQ_FIRST)
        dispatch_interrupt(regs->vector, regs->rip);
    else if (regs->vector == VECTOR_BREAKPOINT)
        debugger_trap(regs);
    else if (regs->vector != VECTOR_PAGE_FAULT || regs->error & PF_RESERVED ||
             !fix_user_copy(&regs->rip, read_cr2(), access_of(regs->error)))
        fail(regs);
}

void trap_special(struct kernel_regs *regs)
{
    if (regs->vector != VECTOR_NMI)
        fail(regs);
    regs->rip = trace_restart(regs->rip);
    bool requested = atomic_exchange(&this_cpu()->arch.requested, false);
    if (!debugger_stop(regs) && !requested) /* one NMI may be for both */
        handle_nmi(regs);
}
