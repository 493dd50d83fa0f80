/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch/ipc_stub.h (x86_64) - the registers of a message, for <tarn/ipc.h>.
 *
 * rax = number, rdi = capability slot, rsi = label, rdx r10 r8 r9 rbx r12 = words, r13 = capabilities, r14 =
 * deadline. On return rax = 0 or -E_*, rdi = badge (receive only), the rest as sent. rcx and r11 are lost,
 * all other registers are kept.
 */
#ifndef ARCH_IPC_STUB_H
#define ARCH_IPC_STUB_H

#include <stdint.h>
#include <tarn/abi.h>

/* The registers carry the message out and back. */
static inline __attribute__((always_inline)) int64_t arch_ipc(uint64_t number, cap_t cap, uint64_t deadline,
                                                              struct ipc_registers *message)
{
    int64_t result;
    uint64_t slot = cap;
    register uint64_t word1 __asm__("r10") = message->word1;
    register uint64_t word2 __asm__("r8") = message->word2;
    register uint64_t word3 __asm__("r9") = message->word3;
    register uint64_t word5 __asm__("r12") = message->word5;
    register uint64_t caps __asm__("r13") = message->caps;
    register uint64_t r14 __asm__("r14") = deadline;
    __asm__ volatile("syscall"
                     : "=a"(result), "+D"(slot), "+S"(message->label), "+d"(message->word0), "+r"(word1),
                       "+r"(word2), "+r"(word3), "+b"(message->word4), "+r"(word5), "+r"(caps)
                     : "0"(number), "r"(r14)
                     : "rcx", "r11", "memory");
    message->word1 = word1;
    message->word2 = word2;
    message->word3 = word3;
    message->word5 = word5;
    message->caps = caps;
    message->badge = slot;
    return result;
}

#endif
