/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ipc.h - sending and receiving messages from a program.
 *
 * Everything is inlined, so that a message whose fields are known costs no memory traffic:
 *
 *     ipc_call, ipc_send, ipc_receive, ipc_reply, ipc_reply_receive, ipc_reply_to     struct ipc_message
 *     ipc_call_words4, ipc_reply_receive_words4   the label and four words
 *
 * Those that wait for whole messages have a *_deadline variant. The words4 variants send no capabilities, and
 * leave the other words as the registers happen to be: use them between parties that may see each other's
 * data. A failed call leaves the message undefined.
 */
#ifndef TARN_IPC_H
#define TARN_IPC_H

#include <stdint.h>
#include <tarn/abi.h>
#include <tarn/any_value.h>
#include <tarn/syscall.h>

struct ipc_registers { /* the compiler keeps them in registers */
    uint64_t label, word0, word1, word2, word3, word4, word5, caps, badge;
};
#include <arch/ipc_stub.h> /* arch_ipc */

#define IPC_INLINE static inline __attribute__((always_inline))

/* ---- Whole messages ---- */

IPC_INLINE struct ipc_registers ipc_load(const struct ipc_message *message)
{
    struct ipc_registers registers = {.label = message->label,
                                      .word0 = message->word[0],
                                      .word1 = message->word[1],
                                      .word2 = message->word[2],
                                      .word3 = message->word[3],
                                      .word4 = message->word[4],
                                      .word5 = message->word[5]};
    __builtin_memcpy(&registers.caps, message->cap, sizeof registers.caps);
    return registers;
}

IPC_INLINE void ipc_store(struct ipc_message *message, const struct ipc_registers *registers)
{
    message->label = registers->label;
    message->word[0] = registers->word0;
    message->word[1] = registers->word1;
    message->word[2] = registers->word2;
    message->word[3] = registers->word3;
    message->word[4] = registers->word4;
    message->word[5] = registers->word5;
    __builtin_memcpy(message->cap, &registers->caps, sizeof registers->caps);
    message->badge = registers->badge;
}

/* No capabilities, undefined words. */
IPC_INLINE struct ipc_registers ipc_label_only(uint64_t label)
{
    return (struct ipc_registers){.label = label,
                                  .word0 = any_value(),
                                  .word1 = any_value(),
                                  .word2 = any_value(),
                                  .word3 = any_value(),
                                  .word4 = any_value(),
                                  .word5 = any_value()};
}

/* Sends the message and replaces it by the one that comes back. */
IPC_INLINE int64_t ipc_exchange(uint64_t number, cap_t cap, struct ipc_message *message, uint64_t deadline)
{
    struct ipc_registers registers = ipc_load(message);
    int64_t result = arch_ipc(number, cap, deadline, &registers);
    ipc_store(message, &registers);
    return result;
}

IPC_INLINE int64_t ipc_call_deadline(cap_t endpoint, struct ipc_message *message, uint64_t deadline)
{
    return ipc_exchange(SYS_ipc_call, endpoint, message, deadline);
}
IPC_INLINE int64_t ipc_call(cap_t endpoint, struct ipc_message *message)
{
    return ipc_call_deadline(endpoint, message, TARN_FOREVER);
}

IPC_INLINE int64_t ipc_send_deadline(cap_t endpoint, const struct ipc_message *message, uint64_t deadline)
{
    struct ipc_registers registers = ipc_load(message);
    return arch_ipc(SYS_ipc_send, endpoint, deadline, &registers);
}
IPC_INLINE int64_t ipc_send(cap_t endpoint, const struct ipc_message *message)
{
    return ipc_send_deadline(endpoint, message, TARN_FOREVER);
}

IPC_INLINE int64_t ipc_receive_deadline(cap_t endpoint, struct ipc_message *message, uint64_t deadline)
{
    struct ipc_registers registers = ipc_label_only(any_value());
    registers.caps = any_value();
    int64_t result = arch_ipc(SYS_ipc_receive, endpoint, deadline, &registers);
    ipc_store(message, &registers);
    return result;
}
IPC_INLINE int64_t ipc_receive(cap_t endpoint, struct ipc_message *message)
{
    return ipc_receive_deadline(endpoint, message, TARN_FOREVER);
}

/* Replies to the sender of the message that this thread received last. */
IPC_INLINE int64_t ipc_reply(const struct ipc_message *message)
{
    struct ipc_registers registers = ipc_load(message);
    return arch_ipc(SYS_ipc_reply, 0, 0, &registers);
}
IPC_INLINE int64_t ipc_reply_to(cap_t reply, const struct ipc_message *message)
{
    struct ipc_registers registers = ipc_load(message);
    return arch_ipc(SYS_ipc_reply_to, reply, 0, &registers);
}
IPC_INLINE int64_t ipc_save_reply(void) /* returns the slot of the saved caller */
{
    return sys_ipc_save_reply();
}

/* Replies and waits for the next message, which replaces the reply. */
IPC_INLINE int64_t ipc_reply_receive_deadline(cap_t endpoint, struct ipc_message *message, uint64_t deadline)
{
    return ipc_exchange(SYS_ipc_reply_receive, endpoint, message, deadline);
}
IPC_INLINE int64_t ipc_reply_receive(cap_t endpoint, struct ipc_message *message)
{
    return ipc_reply_receive_deadline(endpoint, message, TARN_FOREVER);
}

/* ---- The label and four words ---- */

/* Replaces label, words and badge by those that come back. */
IPC_INLINE int64_t ipc_exchange_words4(uint64_t number, cap_t cap, uint64_t *label, uint64_t word[4],
                                       uint64_t *badge)
{
    struct ipc_registers registers = ipc_label_only(*label);
    registers.word0 = word[0];
    registers.word1 = word[1];
    registers.word2 = word[2];
    registers.word3 = word[3];
    int64_t result = arch_ipc(number, cap, TARN_FOREVER, &registers);
    word[0] = registers.word0;
    word[1] = registers.word1;
    word[2] = registers.word2;
    word[3] = registers.word3;
    *label = registers.label;
    *badge = registers.badge;
    return result;
}

IPC_INLINE int64_t ipc_call_words4(cap_t endpoint, uint64_t *label, uint64_t word[4])
{
    uint64_t badge;
    return ipc_exchange_words4(SYS_ipc_call, endpoint, label, word, &badge);
}

IPC_INLINE int64_t ipc_reply_receive_words4(cap_t endpoint, uint64_t *label, uint64_t word[4],
                                            uint64_t *badge)
{
    return ipc_exchange_words4(SYS_ipc_reply_receive, endpoint, label, word, badge);
}

#endif
