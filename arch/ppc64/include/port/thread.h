/*
 * port/thread.h (ppc64) - floating point and thread-block register of a thread that is not running. The
 * thread pointer is r13, in the frame. Floating point is lazy (README.md).
 *
 * The target address register has the user address of the thread's block. A value that a program writes there
 * lasts until the next switch and affects only that program.
 */
#pragma once

struct arch_thread {
    uint64_t fpr[32];
    uint64_t fpscr;
    uint64_t block_user; /* user address of the thread's block */
};

void arch_save_fp(struct arch_thread *thread); /* stores the current registers */
void arch_load_fp(const struct arch_thread *thread);

#define FRAME_MSR_FP 0x2000ull /* MSR_FP of ppc64.h */

static inline void arch_thread_switch(struct thread *prev, struct thread *next)
{
    struct arch_frame *from = (struct arch_frame *)prev; /* frame is its first member */
    if (__builtin_expect(from->msr & FRAME_MSR_FP, 0)) {
        arch_save_fp(arch_thread_of(prev));
        from->msr &= ~FRAME_MSR_FP;
    }
    __asm__ volatile("mtspr 815, %0" ::"r"(arch_thread_of(next)->block_user)); /* SPR_TAR */
}
