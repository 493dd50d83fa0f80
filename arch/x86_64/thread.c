/*
 * arch/x86_64/thread.c - a thread's first floating-point and segment state. The switch is in <port/thread.h>.
 */
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>

/* Positions in the FXSAVE area. */
#define FX_CONTROL_WORD 0
#define FX_MXCSR        24

void arch_thread_init(struct thread *thread, uint64_t tls)
{
    struct arch_thread *arch = &thread->arch;
    const uint16_t control_word = 0x37f; /* as FNINIT sets it */
    const uint32_t mxcsr = 0x1f80;
    memset(arch->fpu, 0, sizeof(arch->fpu));
    memcpy(&arch->fpu[FX_CONTROL_WORD], &control_word, sizeof(control_word));
    memcpy(&arch->fpu[FX_MXCSR], &mxcsr, sizeof(mxcsr));
    arch->fs_base = tls >> 47 ? 0 : tls; /* WRFSBASE faults on non-canonical addresses */
    arch->gs_base = thread->block_user;
}
