/* arch/ppc64/backtrace.c - call chains along the back chain, which the ABI requires of every function that
 * makes a frame. A frame begins with a pointer to its caller's; the called function stores its return address
 * in its caller's frame. Interface: arch/debug.h. */
#include "port.h"
#include <arch/debug.h>
#include <kernel/cpu/cpu.h>
#include <kernel/sched/thread.h>
#include <stddef.h>

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
