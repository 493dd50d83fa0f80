/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch/syscall_stub.h (ppc64) - how a program enters the kernel.
 *
 * r0 = number, arguments in r3..r8, result in r3. As in a function call r0, r4..r12, CR0, CR1, CR5..CR7, CTR
 * and XER are lost; LR and the floating-point registers are kept. The typed calls on top of this are
 * generated: <tarn/syscall.h>. Messages: <arch/ipc_stub.h>.
 */
#ifndef ARCH_SYSCALL_STUB_H
#define ARCH_SYSCALL_STUB_H

#include <stdint.h>

/* Pass any_value() for arguments that the call does not have. */
static inline __attribute__((always_inline)) int64_t arch_syscall(uint64_t number, uint64_t a, uint64_t b,
                                                                  uint64_t c, uint64_t d, uint64_t e,
                                                                  uint64_t f)
{
    register uint64_t r0 __asm__("r0") = number;
    register uint64_t r3 __asm__("r3") = a;
    register uint64_t r4 __asm__("r4") = b;
    register uint64_t r5 __asm__("r5") = c;
    register uint64_t r6 __asm__("r6") = d;
    register uint64_t r7 __asm__("r7") = e;
    register uint64_t r8 __asm__("r8") = f;
    __asm__ volatile("sc"
                     : "+r"(r0), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6), "+r"(r7), "+r"(r8)
                     :
                     : "r9", "r10", "r11", "r12", "ctr", "xer", "cr0", "cr1", "cr5", "cr6", "cr7", "memory");
    return (int64_t)r3;
}

#endif
