/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch/syscall_stub.h (ppc64) - how a program enters the kernel.
 *
 * r0 = number, arguments in r3..r8, result in r3. As in a function call r0, r4..r12, CR0, CR1, CR5..CR7, CTR
 * and XER are lost; LR and the floating-point registers are kept. The typed calls on top of this are
 * generated: <tarn/syscall.h>.
 *
 * A message (<tarn/ipc.h>): r3 = capability slot, r4 = label, r5..r10 = words, r11 = capabilities, r12 =
 * deadline. On return r12 = badge (receive only), the rest as sent. r0, CR0, CR1, CR5..CR7, CTR and XER are
 * lost, all other registers are kept.
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

/* Sends the message and replaces it by the one that comes back. A copy of it feeds the registers: in a build
 * that calls a function before each access to memory, none may come between their assignments. */
static inline __attribute__((always_inline)) int64_t arch_ipc(uint64_t number, cap_t cap, uint64_t deadline,
                                                              struct ipc_message *message)
{
    struct ipc_message copy = *message;
    register uint64_t r0 __asm__("r0") = number;
    register uint64_t r3 __asm__("r3") = cap;
    register uint64_t label __asm__("r4") = copy.label;
    register uint64_t word0 __asm__("r5") = copy.word[0];
    register uint64_t word1 __asm__("r6") = copy.word[1];
    register uint64_t word2 __asm__("r7") = copy.word[2];
    register uint64_t word3 __asm__("r8") = copy.word[3];
    register uint64_t word4 __asm__("r9") = copy.word[4];
    register uint64_t word5 __asm__("r10") = copy.word[5];
    register uint64_t caps __asm__("r11") = copy.caps;
    register uint64_t r12 __asm__("r12") = deadline;
    __asm__ volatile("sc"
                     : "+r"(r0), "+r"(r3), "+r"(label), "+r"(word0), "+r"(word1), "+r"(word2), "+r"(word3),
                       "+r"(word4), "+r"(word5), "+r"(caps), "+r"(r12)
                     :
                     : "ctr", "xer", "cr0", "cr1", "cr2", "cr3", "cr4", "cr5", "cr6", "cr7", "memory");
    copy.label = label;
    copy.word[0] = word0;
    copy.word[1] = word1;
    copy.word[2] = word2;
    copy.word[3] = word3;
    copy.word[4] = word4;
    copy.word[5] = word5;
    copy.caps = caps;
    copy.badge = r12;
    int64_t result = (int64_t)r3;
    *message = copy;
    return result;
}

#endif
