/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch/syscall_stub.h (x86_64) - how a program enters the kernel.
 *
 * rax = number, arguments in rdi rsi rdx r10 r8 r9, result in rax; rcx and r11 are lost, all other registers
 * are kept. The typed calls on top of this are generated: <tarn/syscall.h>.
 *
 * A message (<tarn/ipc.h>): rdi = capability slot, rsi = label, rdx r10 r8 r9 rbx r12 = words, r13 =
 * capabilities, r14 = deadline. On return rdi = badge (receive only), the rest as sent.
 */
#ifndef ARCH_SYSCALL_STUB_H
#define ARCH_SYSCALL_STUB_H

#include <stdint.h>
#include <tarn/abi.h>

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

/* Sends the message and replaces it by the one that comes back. A copy of it feeds the registers: in a build
 * that calls a function before each access to memory, none may come between their assignments. */
static inline __attribute__((always_inline)) int64_t arch_ipc(uint64_t number, cap_t cap, uint64_t deadline,
                                                              struct ipc_message *message)
{
    struct ipc_message copy = *message;
    int64_t result;
    uint64_t slot = cap;
    register uint64_t word1 __asm__("r10") = copy.word[1];
    register uint64_t word2 __asm__("r8") = copy.word[2];
    register uint64_t word3 __asm__("r9") = copy.word[3];
    register uint64_t word5 __asm__("r12") = copy.word[5];
    register uint64_t caps __asm__("r13") = copy.caps;
    register uint64_t r14 __asm__("r14") = deadline;
    __asm__ volatile("syscall"
                     : "=a"(result), "+D"(slot), "+S"(copy.label), "+d"(copy.word[0]), "+r"(word1),
                       "+r"(word2), "+r"(word3), "+b"(copy.word[4]), "+r"(word5), "+r"(caps)
                     : "0"(number), "r"(r14)
                     : "rcx", "r11", "memory");
    copy.word[1] = word1;
    copy.word[2] = word2;
    copy.word[3] = word3;
    copy.word[5] = word5;
    copy.caps = caps;
    copy.badge = slot;
    *message = copy;
    return result;
}

#endif
