/*
 * port/thread.h (x86_64) - floating point and segment bases of a thread that is not running.
 *
 * Floating point is eager: FXSAVE and FXRSTOR are two instructions; lazy switching costs writes to CR0 and a
 * trap. User mode may change FS base (WRFSBASE), so it is saved. GS base is always the address of the
 * thread's block; a value that a program writes there lasts until the next switch and affects only that
 * program.
 */
#pragma once

struct arch_thread {
    uint8_t fpu[512] __attribute__((aligned(16))); /* FXSAVE area */
    uint64_t fs_base;
    uint64_t gs_base; /* user address of the thread's block */
};

static inline void arch_thread_switch(struct thread *prev, struct thread *next)
{
    struct arch_thread *from = arch_thread_of(prev), *to = arch_thread_of(next);
    uint64_t fs_base;
    __asm__ volatile("fxsave64 %0" : "=m"(from->fpu));
    __asm__ volatile("rdfsbase %0" : "=r"(fs_base));
    from->fs_base = fs_base;
    __asm__ volatile("fxrstor64 %0" ::"m"(to->fpu));
    __asm__ volatile("wrfsbase %0" ::"r"(to->fs_base));
    /* While the kernel runs, SWAPGS's other register has the user's GS base. Between the two SWAPGS the
     * kernel cannot find its struct cpu, so the timer must not interrupt, which it may in a window
     * (kernel/diagnosis/profile.h). */
    __asm__ volatile("pushfq\n\tcli\n\tswapgs\n\twrgsbase %0\n\tswapgs\n\tpopfq" ::"r"(to->gs_base)
                     : "memory", "cc");
}
