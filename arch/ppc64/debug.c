/*
 * arch/ppc64/debug.c - registers and call chains, for the kernel's debugger and others. Stopping a CPU:
 * xics.c; entering: trap.c.
 *
 * Call chains along the back chain, which the ABI requires of every function that makes a frame. A frame
 * begins with a pointer to its caller's; the called function stores its return address in its caller's
 * frame.
 */
#include "port.h"
#include <arch/debug.h>
#include <arch/frame.h>
#include <kernel/cpu/cpu.h>
#include <kernel/sched/thread.h>
#include <stddef.h>

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

/* ---- call chains ----------------------------------------------------------------------------------- */

extern const char trap_resume[]; /* entry.S: where trap_from_kernel and trap_special return to */

struct walk {
    arch_read_word *read;
    void *context;
    uint64_t *chain;
    uint32_t count, max;
    uint64_t known_lr; /* value of LR already in the chain, for a function that made a frame */
};

static inline void put(struct walk *walk, uint64_t address)
{
    if (walk->count < walk->max)
        walk->chain[walk->count++] = address;
}

/* Continues at a trap: the interrupted address, and the caller of a function that makes no frame, which is
 * only in LR. For other functions LR may hold anything, usually an address in the function itself, or an
 * address that the chain has too. */
static inline void put_interrupted(struct walk *walk, uint64_t nip, uint64_t lr)
{
    put(walk, nip);
    if (lr)
        put(walk, lr);
    walk->known_lr = lr;
}

static inline bool put_trap(struct walk *walk, uint64_t frame)
{
    uint64_t nip, lr, regs = frame + STACK_FRAME_BYTES;
    if (!walk->read(walk->context, regs + offsetof(struct kernel_regs, nip), &nip) ||
        !walk->read(walk->context, regs + offsetof(struct kernel_regs, lr), &lr))
        return false;
    put_interrupted(walk, nip, lr);
    return true;
}

/* An interrupted function may have a frame, but not have stored LR there yet. */
static inline bool put_return(struct walk *walk, uint64_t address)
{
    if (!address && !walk->known_lr)
        return false;
    if (address && address != walk->known_lr)
        put(walk, address);
    walk->known_lr = 0;
    return true;
}

/* From the caller of the function with the frame at `at`. Goes only upwards except at a trap, which may have
 * changed stacks. */
static inline uint32_t follow(struct walk walk, uint64_t at)
{
    uint64_t next, address;
    if (!walk.read(walk.context, at, &next))
        return walk.count;
    while (walk.count < walk.max && next && next % 8 == 0 && next != at) {
        at = next;
        if (!walk.read(walk.context, at, &next) ||
            !walk.read(walk.context, at + STACK_RETURN_ADDRESS, &address))
            break;
        if (address == (uint64_t)trap_resume ? !put_trap(&walk, at)
                                             : !put_return(&walk, address) || next <= at)
            break;
    }
    return walk.count;
}

uint32_t arch_backtrace(uint64_t *chain, uint32_t max)
{
    struct walk walk = {.read = cpu_read_stack, .context = this_cpu(), .chain = chain, .max = max};
    put(&walk, (uint64_t)__builtin_return_address(0)); /* its place in the frame may be unused */
    return follow(walk, *(const uint64_t *)__builtin_frame_address(0));
}

uint32_t arch_trap_calls(const struct kernel_regs *regs, arch_read_word *read, void *context, uint64_t *chain,
                         uint32_t max)
{
    struct walk walk = {.read = read, .context = context, .chain = chain, .max = max};
    put_interrupted(&walk, regs->nip, regs->lr);
    return follow(walk, regs->gpr[1]);
}

uint32_t arch_frame_calls(const struct arch_frame *frame, arch_read_word *read, void *context,
                          uint64_t *chain, uint32_t max)
{
    struct walk walk = {.read = read, .context = context, .chain = chain, .max = max};
    put_interrupted(&walk, frame->nip, frame->lr);
    return follow(walk, frame_sp(frame));
}

uint64_t arch_trap_caller(const struct kernel_regs *regs, arch_read_word *read, void *context)
{
    return 0;
}

uint64_t arch_frame_caller(const struct arch_frame *frame, arch_read_word *read, void *context)
{
    return 0;
}
