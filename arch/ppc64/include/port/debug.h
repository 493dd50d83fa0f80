/*
 * port/debug.h (ppc64) - the inline part of <arch/debug.h>.
 *
 * A breakpoint has a trap instruction of its own: the compiler's `trap` marks unreachable code, after which
 * nothing can continue.
 */
#pragma once

#define BREAKPOINT_CODE        0x6462u                         /* "db" */
#define BREAKPOINT_INSTRUCTION (0x0fe00000u | BREAKPOINT_CODE) /* twi 31, 0, BREAKPOINT_CODE */

static inline void arch_breakpoint(void)
{
    __asm__ volatile("twi 31, 0, %0" ::"i"(BREAKPOINT_CODE) : "memory");
}
