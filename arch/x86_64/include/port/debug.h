/* port/debug.h (x86_64) - the inline part of <arch/debug.h>. */
#pragma once

/* The operand forces a frame for the calling function, so that the call chain is complete. */
static inline void arch_breakpoint(void)
{
    __asm__ volatile("int3" ::"r"(__builtin_frame_address(0)) : "memory");
}
