/*
 * arch/ppc64/thread.c - a thread's first registers, and floating point in and out. The switch is in
 * <port/thread.h>.
 */
#include "ppc64.h"
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>

_Static_assert(FRAME_MSR_NEW == MSR_USER && FRAME_MSR_FP == MSR_FP, "port/frame.h, port/thread.h");

#define FRAME_THREAD_POINTER gpr[13]

/* Floating point begins at zero, rounding to nearest, with no exception enabled. */
void arch_thread_init(struct thread *thread, uint64_t tls)
{
    thread->arch = (struct arch_thread){.block_user = thread->block_user};
    thread->frame.FRAME_THREAD_POINTER = tls;
}

/* The kernel is compiled without floating point; it has the registers only during these functions. */
static uint64_t enable_fp(void)
{
    uint64_t msr = read_msr();
    __asm__ volatile("mtmsrd %0\n\tisync" ::"r"(msr | MSR_FP) : "memory");
    return msr;
}

static void restore_msr(uint64_t msr)
{
    __asm__ volatile("mtmsrd %0\n\tisync" ::"r"(msr) : "memory");
}

#define FOR_ALL_FPRS(instruction)                            \
    ".set number, 0\n\t"                                     \
    ".rept 32\n\t" instruction " number, 8 * number(%0)\n\t" \
    ".set number, number + 1\n\t"                            \
    ".endr\n\t"

void arch_save_fp(struct arch_thread *thread)
{
    uint64_t msr = enable_fp();
    __asm__ volatile(FOR_ALL_FPRS("stfd") "mffs 0\n\tstfd 0, 0(%1)" ::"b"(thread->fpr), "b"(&thread->fpscr)
                     : "memory");
    restore_msr(msr);
}

void arch_load_fp(const struct arch_thread *thread)
{
    uint64_t msr = enable_fp();
    __asm__ volatile("lfd 0, 0(%1)\n\tmtfsf 255, 0\n\t" FOR_ALL_FPRS("lfd")::"b"(thread->fpr),
                     "b"(&thread->fpscr)
                     : "memory");
    restore_msr(msr);
}
