/*
 * arch/syscall_stub.h (x86_64) - how a program enters the kernel.
 *
 * rax = number, arguments in rdi rsi rdx r10 r8 r9, result in rax; rcx and r11 are lost, all other registers
 * are kept. The typed calls on top of this are generated: <tarn/syscall.h>.
 */
#pragma once

#include <stdint.h>

/* Pass any_value() for arguments that the call does not have. */
static inline __attribute__((always_inline)) int64_t arch_syscall(uint64_t number, uint64_t a, uint64_t b,
                                                                  uint64_t c, uint64_t d, uint64_t e,
                                                                  uint64_t f)
{
    int64_t result;
    register uint64_t r10 __asm__("r10") = d;
    register uint64_t r8 __asm__("r8") = e;
    register uint64_t r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

/* The registers of a message, for <tarn/ipc.h>. */
#define ARCH_IPC_NUMBER                        "rax"
#define ARCH_IPC_CAP                           "rdi"
#define ARCH_IPC_LABEL                         "rsi"
#define ARCH_IPC_WORD0                         "rdx"
#define ARCH_IPC_WORD1                         "r10"
#define ARCH_IPC_WORD2                         "r8"
#define ARCH_IPC_WORD3                         "r9"
#define ARCH_IPC_WORD4                         "rbx"
#define ARCH_IPC_WORD5                         "r12"
#define ARCH_IPC_CAPS                          "r13"
#define ARCH_IPC_DEADLINE                      "r14"
/* The registers that contain, on return, the result and the badge of a received message. */
#define ARCH_IPC_RESULT(number, cap, deadline) (number)
#define ARCH_IPC_BADGE(number, cap, deadline)  (cap)
#define ARCH_IPC_ENTER                         "syscall"
#define ARCH_IPC_LOST                          "rcx", "r11", "memory"
