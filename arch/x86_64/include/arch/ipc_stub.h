/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch/ipc_stub.h (x86_64) - sending and receiving messages from a program.
 *
 * rax = number, rdi = capability slot, rsi = label, rdx r10 r8 r9 rbx r12 = words, r13 = capabilities
 * (four slots of 16 bits, low first), r14 = deadline. On return rax = 0 or -E_*, rdi = badge (receive
 * only), the rest as sent. rcx and r11 are lost, everything else is kept.
 *
 * Everything here is inlined, so that a message whose fields are known costs no memory traffic:
 *
 *     ipc_call, ipc_send, ipc_receive, ipc_reply, ipc_reply_receive, ipc_reply_to     struct ipc_message
 *     ipc_call_label, ipc_reply_receive_label     the label alone; words and capabilities are not looked at
 *     ipc_call_words4, ipc_reply_receive_words4   the label and four words
 *
 * each with a *_deadline variant where it can wait. The label and words4 variants send no capabilities;
 * words that they do not set travel with whatever the registers held, so use them between parties that
 * trust each other that far. A failed call leaves the message's contents undefined.
 */
#ifndef ARCH_IPC_STUB_H
#define ARCH_IPC_STUB_H

#include <stdint.h>
#include <tarn/abi.h>
#include <tarn/syscall.h>

#define IPC_INLINE static inline __attribute__((always_inline))

/* ---- whole messages ------------------------------------------------------------------------------ */

/* The exchange under all calls below: the message goes out in the registers and comes back in them. */
IPC_INLINE int64_t arch_ipc(uint64_t number, cap_t cap, struct ipc_message *message, uint64_t deadline)
{
    int64_t result;
    uint64_t caps, slot = cap, label = message->label;
    uint64_t word0 = message->word[0], w1 = message->word[1], w2 = message->word[2], w3 = message->word[3];
    uint64_t word4 = message->word[4], w5 = message->word[5];
    __builtin_memcpy(&caps, message->cap, sizeof(caps));
    register uint64_t word1 __asm__("r10") = w1;
    register uint64_t word2 __asm__("r8") = w2;
    register uint64_t word3 __asm__("r9") = w3;
    register uint64_t word5 __asm__("r12") = w5;
    register uint64_t r13 __asm__("r13") = caps;
    register uint64_t r14 __asm__("r14") = deadline;
    __asm__ volatile("syscall"
                     : "=a"(result), "+D"(slot), "+S"(label), "+d"(word0), "+r"(word1), "+r"(word2),
                       "+r"(word3), "+b"(word4), "+r"(word5), "+r"(r13)
                     : "0"(number), "r"(r14)
                     : "rcx", "r11", "memory");
    message->label = label;
    message->word[0] = word0;
    message->word[1] = word1;
    message->word[2] = word2;
    message->word[3] = word3;
    message->word[4] = word4;
    message->word[5] = word5;
    caps = r13;
    __builtin_memcpy(message->cap, &caps, sizeof(caps));
    message->badge = slot;
    return result;
}

/* The same when nothing comes back but the result. */
IPC_INLINE int64_t arch_ipc_send(uint64_t number, cap_t cap, const struct ipc_message *message,
                                 uint64_t deadline)
{
    struct ipc_message copy = *message;
    return arch_ipc(number, cap, &copy, deadline);
}

/* The same when nothing goes out. */
IPC_INLINE int64_t arch_ipc_receive(uint64_t number, cap_t cap, struct ipc_message *message,
                                    uint64_t deadline)
{
    int64_t result;
    uint64_t caps, slot = cap, label, word0, word4;
    register uint64_t word1 __asm__("r10");
    register uint64_t word2 __asm__("r8");
    register uint64_t word3 __asm__("r9");
    register uint64_t word5 __asm__("r12");
    register uint64_t r13 __asm__("r13");
    register uint64_t r14 __asm__("r14") = deadline;
    __asm__ volatile("syscall"
                     : "=a"(result), "+D"(slot), "=S"(label), "=d"(word0), "=r"(word1), "=r"(word2),
                       "=r"(word3), "=b"(word4), "=r"(word5), "=r"(r13)
                     : "0"(number), "r"(r14)
                     : "rcx", "r11", "memory");
    message->label = label;
    message->word[0] = word0;
    message->word[1] = word1;
    message->word[2] = word2;
    message->word[3] = word3;
    message->word[4] = word4;
    message->word[5] = word5;
    caps = r13;
    __builtin_memcpy(message->cap, &caps, sizeof(caps));
    message->badge = slot;
    return result;
}

/* Sends the message and waits for the answer, which replaces it. */
IPC_INLINE int64_t ipc_call_deadline(cap_t endpoint, struct ipc_message *message, uint64_t deadline)
{
    return arch_ipc(SYS_ipc_call, endpoint, message, deadline);
}
IPC_INLINE int64_t ipc_call(cap_t endpoint, struct ipc_message *message)
{
    return ipc_call_deadline(endpoint, message, TARN_FOREVER);
}

IPC_INLINE int64_t ipc_send_deadline(cap_t endpoint, const struct ipc_message *message, uint64_t deadline)
{
    return arch_ipc_send(SYS_ipc_send, endpoint, message, deadline);
}
IPC_INLINE int64_t ipc_send(cap_t endpoint, const struct ipc_message *message)
{
    return ipc_send_deadline(endpoint, message, TARN_FOREVER);
}

IPC_INLINE int64_t ipc_receive_deadline(cap_t endpoint, struct ipc_message *message, uint64_t deadline)
{
    return arch_ipc_receive(SYS_ipc_receive, endpoint, message, deadline);
}
IPC_INLINE int64_t ipc_receive(cap_t endpoint, struct ipc_message *message)
{
    return ipc_receive_deadline(endpoint, message, TARN_FOREVER);
}

/* Answers whoever sent what this thread received last. */
IPC_INLINE int64_t ipc_reply(const struct ipc_message *message)
{
    return arch_ipc_send(SYS_ipc_reply, 0, message, 0);
}
IPC_INLINE int64_t ipc_reply_to(cap_t reply, const struct ipc_message *message)
{
    return arch_ipc_send(SYS_ipc_reply_to, reply, message, 0);
}
IPC_INLINE int64_t ipc_save_reply(void) /* slot of the saved caller */
{
    return arch_syscall0(SYS_ipc_save_reply);
}

/* Answers and waits for the next message, which replaces the answer. */
IPC_INLINE int64_t ipc_reply_receive_deadline(cap_t endpoint, struct ipc_message *message, uint64_t deadline)
{
    return arch_ipc(SYS_ipc_reply_receive, endpoint, message, deadline);
}
IPC_INLINE int64_t ipc_reply_receive(cap_t endpoint, struct ipc_message *message)
{
    return ipc_reply_receive_deadline(endpoint, message, TARN_FOREVER);
}

/* ---- the label alone ----------------------------------------------------------------------------- */

IPC_INLINE int64_t arch_ipc_label(uint64_t number, cap_t cap, uint64_t *label, uint64_t *badge,
                                  uint64_t deadline)
{
    int64_t result;
    uint64_t slot = cap;
    register uint64_t caps __asm__("r13") = 0;
    register uint64_t r14 __asm__("r14") = deadline;
    __asm__ volatile("syscall"
                     : "=a"(result), "+D"(slot), "+S"(*label), "+r"(caps)
                     : "0"(number), "r"(r14)
                     : "rcx", "r11", "rdx", "r10", "r8", "r9", "rbx", "r12", "memory");
    *badge = slot;
    return result;
}

IPC_INLINE int64_t ipc_call_label_deadline(cap_t endpoint, uint64_t label, uint64_t *answer,
                                           uint64_t deadline)
{
    uint64_t badge;
    *answer = label;
    return arch_ipc_label(SYS_ipc_call, endpoint, answer, &badge, deadline);
}
IPC_INLINE int64_t ipc_call_label(cap_t endpoint, uint64_t label, uint64_t *answer)
{
    return ipc_call_label_deadline(endpoint, label, answer, TARN_FOREVER);
}

IPC_INLINE int64_t ipc_reply_receive_label_deadline(cap_t endpoint, uint64_t *label, uint64_t *badge,
                                                    uint64_t deadline)
{
    return arch_ipc_label(SYS_ipc_reply_receive, endpoint, label, badge, deadline);
}
IPC_INLINE int64_t ipc_reply_receive_label(cap_t endpoint, uint64_t *label, uint64_t *badge)
{
    return ipc_reply_receive_label_deadline(endpoint, label, badge, TARN_FOREVER);
}

/* ---- the label and four words -------------------------------------------------------------------- */

IPC_INLINE int64_t arch_ipc_words4(uint64_t number, cap_t cap, uint64_t *label, uint64_t word[4],
                                   uint64_t *badge, uint64_t deadline)
{
    int64_t result;
    uint64_t slot = cap, word0 = word[0], w1 = word[1], w2 = word[2], w3 = word[3];
    register uint64_t word1 __asm__("r10") = w1;
    register uint64_t word2 __asm__("r8") = w2;
    register uint64_t word3 __asm__("r9") = w3;
    register uint64_t caps __asm__("r13") = 0;
    register uint64_t r14 __asm__("r14") = deadline;
    __asm__ volatile("syscall"
                     : "=a"(result), "+D"(slot), "+S"(*label), "+d"(word0), "+r"(word1), "+r"(word2),
                       "+r"(word3), "+r"(caps)
                     : "0"(number), "r"(r14)
                     : "rcx", "r11", "rbx", "r12", "memory");
    word[0] = word0;
    word[1] = word1;
    word[2] = word2;
    word[3] = word3;
    *badge = slot;
    return result;
}

/* Label and words are replaced by the answer's. */
IPC_INLINE int64_t ipc_call_words4_deadline(cap_t endpoint, uint64_t *label, uint64_t word[4],
                                            uint64_t deadline)
{
    uint64_t badge;
    return arch_ipc_words4(SYS_ipc_call, endpoint, label, word, &badge, deadline);
}
IPC_INLINE int64_t ipc_call_words4(cap_t endpoint, uint64_t *label, uint64_t word[4])
{
    return ipc_call_words4_deadline(endpoint, label, word, TARN_FOREVER);
}

IPC_INLINE int64_t ipc_reply_receive_words4_deadline(cap_t endpoint, uint64_t *label, uint64_t word[4],
                                                     uint64_t *badge, uint64_t deadline)
{
    return arch_ipc_words4(SYS_ipc_reply_receive, endpoint, label, word, badge, deadline);
}
IPC_INLINE int64_t ipc_reply_receive_words4(cap_t endpoint, uint64_t *label, uint64_t word[4],
                                            uint64_t *badge)
{
    return ipc_reply_receive_words4_deadline(endpoint, label, word, badge, TARN_FOREVER);
}

#endif
