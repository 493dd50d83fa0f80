/*
 * arch/x86_64/debug.c - registers and call chains, for the kernel's debugger and others. Stopping a CPU:
 * apic.c; entering: trap.c.
 *
 * Call chains along frame pointers, which all code is compiled with. A frame is the caller's frame pointer,
 * then the return address; the entry code starts chains with 0.
 */
#include "port.h"
#include <arch/debug.h>
#include <arch/frame.h>
#include <kernel/cpu/cpu.h>
#include <kernel/sched/thread.h>
#include <stddef.h>

uint64_t arch_trap_ip(const struct kernel_regs *regs)
{
    return regs->rip;
}

uint32_t arch_trap_vector(const struct kernel_regs *regs)
{
    return (uint32_t)regs->vector;
}

bool arch_trap_of_user(const struct kernel_regs *regs)
{
    return regs->cs & 3;
}

bool arch_trap_was_interruptible(const struct kernel_regs *regs)
{
    return regs->rflags & RFLAGS_INTERRUPTS;
}

void arch_print_trap(const struct kernel_regs *r, arch_print *print)
{
    print("rip %016lx rflags %016lx cs %lx ss %lx\n", r->rip, r->rflags, r->cs, r->ss);
    print("rax %016lx rbx %016lx rcx %016lx rdx %016lx\n", r->rax, r->rbx, r->rcx, r->rdx);
    print("rsi %016lx rdi %016lx rbp %016lx rsp %016lx\n", r->rsi, r->rdi, r->rbp, r->rsp);
    print("r8  %016lx r9  %016lx r10 %016lx r11 %016lx\n", r->r8, r->r9, r->r10, r->r11);
    print("r12 %016lx r13 %016lx r14 %016lx r15 %016lx\n", r->r12, r->r13, r->r14, r->r15);
}

void arch_print_frame(const struct arch_frame *f, arch_print *print)
{
    print("rip %016lx rflags %016lx, %s\n", f->rip, f->rflags,
          f->interrupted ? "interrupted" : "in a system call: rcx and r11 are lost");
    print("rax %016lx rbx %016lx rcx %016lx rdx %016lx\n", f->rax, f->rbx, f->rcx, f->rdx);
    print("rsi %016lx rdi %016lx rbp %016lx rsp %016lx\n", f->rsi, f->rdi, f->rbp, f->rsp);
    print("r8  %016lx r9  %016lx r10 %016lx r11 %016lx\n", f->r8, f->r9, f->r10, f->r11);
    print("r12 %016lx r13 %016lx r14 %016lx r15 %016lx\n", f->r12, f->r13, f->r14, f->r15);
}

void arch_with_caller(const void *frame, void (*function)(struct kernel_regs *regs, void *argument),
                      void *argument)
{
    const uint64_t *words = frame; /* the caller's frame pointer, the return address */
    struct kernel_regs regs;
    __asm__ volatile("movq %%rbx, %0\n\tmovq %%r12, %1\n\tmovq %%r13, %2\n\tmovq %%r14, %3\n\tmovq %%r15, %4"
                     : "=m"(regs.rbx), "=m"(regs.r12), "=m"(regs.r13), "=m"(regs.r14), "=m"(regs.r15));
    __asm__ volatile("pushfq\n\tpopq %0" : "=r"(regs.rflags));
    regs.rax = regs.rcx = regs.rdx = regs.rsi = regs.rdi = regs.r8 = regs.r9 = regs.r10 = regs.r11 = 0;
    regs.vector = regs.error = 0;
    regs.cs = SELECTOR_KERNEL_CODE;
    regs.ss = SELECTOR_KERNEL_DATA;
    regs.rbp = words[0];
    regs.rip = words[1];
    regs.rsp = (uint64_t)&words[2];
    function(&regs, argument);
}

/* ---- call chains ----------------------------------------------------------------------------------- */

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
