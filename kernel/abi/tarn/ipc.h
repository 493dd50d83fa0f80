/*
 * ipc.h - sending and receiving messages from a program.
 *
 *     ipc_call, ipc_send, ipc_receive, ipc_reply, ipc_reply_receive, ipc_reply_to
 *
 * Everything is inlined, so the compiler keeps a message that is a local variable in registers. Calls that
 * wait have a *_deadline variant. A failed call leaves the message undefined.
 */
#pragma once

#include <stdint.h>
#include <tarn/abi.h>
#include <tarn/syscall.h>

#define IPC_INLINE static inline __attribute__((always_inline))

/* Sends the message and replaces it by the one that comes back. The registers are those of the port
 * (<arch/syscall_stub.h>). A copy of the message feeds them: in a build that calls a function before each
 * access to memory, none may come between their assignments. */
IPC_INLINE int64_t ipc_exchange(uint64_t number, uint64_t cap, struct ipc_message *message, uint64_t deadline)
{
    struct ipc_message copy = *message;
    register uint64_t r_number __asm__(ARCH_IPC_NUMBER) = number;
    register uint64_t r_cap __asm__(ARCH_IPC_CAP) = cap;
    register uint64_t label __asm__(ARCH_IPC_LABEL) = copy.label;
    register uint64_t word0 __asm__(ARCH_IPC_WORD0) = copy.word[0];
    register uint64_t word1 __asm__(ARCH_IPC_WORD1) = copy.word[1];
    register uint64_t word2 __asm__(ARCH_IPC_WORD2) = copy.word[2];
    register uint64_t word3 __asm__(ARCH_IPC_WORD3) = copy.word[3];
    register uint64_t word4 __asm__(ARCH_IPC_WORD4) = copy.word[4];
    register uint64_t word5 __asm__(ARCH_IPC_WORD5) = copy.word[5];
    register uint64_t caps __asm__(ARCH_IPC_CAPS) = copy.caps;
    register uint64_t r_deadline __asm__(ARCH_IPC_DEADLINE) = deadline;
    __asm__ volatile(ARCH_IPC_ENTER
                     : "+r"(r_number), "+r"(r_cap), "+r"(label), "+r"(word0), "+r"(word1), "+r"(word2),
                       "+r"(word3), "+r"(word4), "+r"(word5), "+r"(caps), "+r"(r_deadline)
                     :
                     : ARCH_IPC_LOST);
    int64_t result = (int64_t)ARCH_IPC_RESULT(r_number, r_cap, r_deadline);
    *message = (struct ipc_message){.label = label,
                                    .word = {word0, word1, word2, word3, word4, word5},
                                    .caps = caps,
                                    .badge = ARCH_IPC_BADGE(r_number, r_cap, r_deadline)};
    return result;
}

/* No capabilities, and words as the registers happen to be: for a receiver that may see the sender's data. */
IPC_INLINE struct ipc_message ipc_label_only(uint64_t label)
{
    return (struct ipc_message){
        .label = label,
        .word = {any_value(), any_value(), any_value(), any_value(), any_value(), any_value()}};
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
    struct ipc_message copy = *message;
    return ipc_exchange(SYS_ipc_send, endpoint, &copy, deadline);
}
IPC_INLINE int64_t ipc_send(cap_t endpoint, const struct ipc_message *message)
{
    return ipc_send_deadline(endpoint, message, TARN_FOREVER);
}

IPC_INLINE int64_t ipc_receive_deadline(cap_t endpoint, struct ipc_message *message, uint64_t deadline)
{
    struct ipc_message received = ipc_label_only(any_value());
    int64_t result = ipc_exchange(SYS_ipc_receive, endpoint, &received, deadline);
    *message = received;
    return result;
}
IPC_INLINE int64_t ipc_receive(cap_t endpoint, struct ipc_message *message)
{
    return ipc_receive_deadline(endpoint, message, TARN_FOREVER);
}

/* Replies to the sender of the message that this thread received last. */
IPC_INLINE int64_t ipc_reply(const struct ipc_message *message)
{
    struct ipc_message copy = *message;
    return ipc_exchange(SYS_ipc_reply, 0, &copy, 0);
}
IPC_INLINE int64_t ipc_reply_to(cap_t reply, const struct ipc_message *message)
{
    struct ipc_message copy = *message;
    return ipc_exchange(SYS_ipc_reply_to, reply, &copy, 0);
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
/* The same, and closes the capabilities that the reply carries once it is sent. -E_NO_SLOT, -E_NO_MEMORY: it
 * was not sent, and the sender still has them. */
IPC_INLINE int64_t ipc_reply_receive_closing(cap_t endpoint, struct ipc_message *message)
{
    return ipc_exchange(SYS_ipc_reply_receive, endpoint | IPC_CLOSE_SENT, message, TARN_FOREVER);
}
