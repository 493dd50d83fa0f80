/* arch/x86_64/backtrace.c - call chains along frame pointers, which all code is compiled with. A frame is the
 * caller's frame pointer, then the return address; the entry code starts chains with 0. Interface:
 * arch/debug.h. */
#include "port.h"
#include <arch/debug.h>
#include <kernel/cpu/cpu.h>
#include <kernel/sched/thread.h>
#include <stddef.h>

extern const char trap_resume[], trap_special_resume[]; /* entry.S: after its calls of C */

struct walk {
    arch_read_word *read;
    void *context;
    uint64_t *chain;
    uint32_t count, max;
};

static inline void put(struct walk *walk, uint64_t address)
{
    if (walk->count < walk->max)
        walk->chain[walk->count++] = address;
}

/* The registers of the interrupted code lie above the return address of a trap's handler. False: that was a
 * user program, whose frames are another chain. */
static inline bool put_trap(struct walk *walk, uint64_t regs)
{
    uint64_t rip, cs;
    if (!walk->read(walk->context, regs + offsetof(struct kernel_regs, rip), &rip) ||
        !walk->read(walk->context, regs + offsetof(struct kernel_regs, cs), &cs) || cs & 3)
        return false;
    put(walk, rip);
    return true;
}

/* Goes only upwards except at a trap, which may have changed stacks. */
static inline uint32_t follow(struct walk walk, uint64_t frame)
{
    uint64_t next, address;
    while (walk.count < walk.max && frame % 8 == 0 && walk.read(walk.context, frame, &next) &&
           walk.read(walk.context, frame + 8, &address) && address) {
        bool trapped = address == (uint64_t)trap_resume || address == (uint64_t)trap_special_resume;
        put(&walk, address);
        if (trapped ? !put_trap(&walk, frame + 16) || next == frame : next <= frame)
            break;
        frame = next;
    }
    return walk.count;
}

uint32_t arch_backtrace(uint64_t *chain, uint32_t max)
{
    struct walk walk = {.read = cpu_read_stack, .context = this_cpu(), .chain = chain, .max = max};
    return follow(walk, (uint64_t)__builtin_frame_address(0));
}

uint32_t arch_trap_calls(const struct kernel_regs *regs, arch_read_word *read, void *context, uint64_t *chain,
                         uint32_t max)
{
    struct walk walk = {.read = read, .context = context, .chain = chain, .max = max};
    put(&walk, regs->rip);
    return follow(walk, regs->rbp);
}

uint32_t arch_frame_calls(const struct arch_frame *frame, arch_read_word *read, void *context,
                          uint64_t *chain, uint32_t max)
{
    struct walk walk = {.read = read, .context = context, .chain = chain, .max = max};
    put(&walk, frame->rip);
    return follow(walk, frame->rbp);
}

static uint64_t top_of_stack(uint64_t rsp, arch_read_word *read, void *context)
{
    uint64_t word;
    return read(context, rsp, &word) ? word : 0;
}

uint64_t arch_trap_caller(const struct kernel_regs *regs, arch_read_word *read, void *context)
{
    return top_of_stack(regs->rsp, read, context);
}

uint64_t arch_frame_caller(const struct arch_frame *frame, arch_read_word *read, void *context)
{
    return top_of_stack(frame->rsp, read, context);
}
