/*
 * arch/syscall_stub.h (ppc64) - how a program enters the kernel.
 *
 * r0 = number, arguments in r3..r8, result in r3. As in a function call r0, r4..r12, CR0, CR1, CR5..CR7, CTR
 * and XER are lost; LR and the floating-point registers are kept. The typed calls on top of this are
 * generated: <tarn/syscall.h>.
 */
#pragma once

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

/* The registers of a message, for <tarn/ipc.h>. */
#define ARCH_IPC_NUMBER                        "r0"
#define ARCH_IPC_CAP                           "r3"
#define ARCH_IPC_LABEL                         "r4"
#define ARCH_IPC_WORD0                         "r5"
#define ARCH_IPC_WORD1                         "r6"
#define ARCH_IPC_WORD2                         "r7"
#define ARCH_IPC_WORD3                         "r8"
#define ARCH_IPC_WORD4                         "r9"
#define ARCH_IPC_WORD5                         "r10"
#define ARCH_IPC_CAPS                          "r11"
#define ARCH_IPC_DEADLINE                      "r12"
/* The registers that contain, on return, the result and the badge of a received message. */
#define ARCH_IPC_RESULT(number, cap, deadline) (cap)
#define ARCH_IPC_BADGE(number, cap, deadline)  (deadline)
#define ARCH_IPC_ENTER                         "sc"
#define ARCH_IPC_LOST                          "ctr", "xer", "cr0", "cr1", "cr2", "cr3", "cr4", "cr5", "cr6", "cr7", "memory"
