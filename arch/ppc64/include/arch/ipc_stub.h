/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch/ipc_stub.h (ppc64) - the registers of a message, for <tarn/ipc.h>.
 *
 * r0 = number, r3 = capability slot, r4 = label, r5..r10 words, r11 = capabilities, r12 = deadline. On return
 * r3 = 0 or -E_*, r12 = badge (receive only), the rest as sent. r0, CR0, CR1, CR5..CR7, CTR and XER are lost,
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
    register uint64_t r0 __asm__("r0") = number;
    register uint64_t r3 __asm__("r3") = cap;
    register uint64_t label __asm__("r4") = message->label;
    register uint64_t word0 __asm__("r5") = message->word0;
    register uint64_t word1 __asm__("r6") = message->word1;
    register uint64_t word2 __asm__("r7") = message->word2;
    register uint64_t word3 __asm__("r8") = message->word3;
    register uint64_t word4 __asm__("r9") = message->word4;
    register uint64_t word5 __asm__("r10") = message->word5;
    register uint64_t caps __asm__("r11") = message->caps;
    register uint64_t r12 __asm__("r12") = deadline;
    __asm__ volatile("sc"
                     : "+r"(r0), "+r"(r3), "+r"(label), "+r"(word0), "+r"(word1), "+r"(word2), "+r"(word3),
                       "+r"(word4), "+r"(word5), "+r"(caps), "+r"(r12)
                     :
                     : "ctr", "xer", "cr0", "cr1", "cr2", "cr3", "cr4", "cr5", "cr6", "cr7", "memory");
    message->label = label;
    message->word0 = word0;
    message->word1 = word1;
    message->word2 = word2;
    message->word3 = word3;
    message->word4 = word4;
    message->word5 = word5;
    message->caps = caps;
    message->badge = r12;
    return (int64_t)r3;
}

#endif
