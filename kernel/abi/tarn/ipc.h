/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ipc.h - sending and receiving messages from a program.
 *
 *     ipc_call, ipc_send, ipc_receive, ipc_reply, ipc_reply_receive, ipc_reply_to
 *
 * Everything is inlined, so the compiler keeps a message that is a local variable in registers. Those that
 * wait have a *_deadline variant. A failed call leaves the message undefined.
 */
#ifndef TARN_IPC_H
#define TARN_IPC_H

#include <stdint.h>
#include <tarn/abi.h>
#include <tarn/any_value.h>
#include <tarn/syscall.h> /* arch_ipc */

#define IPC_INLINE static inline __attribute__((always_inline))

/* No capabilities, and words as the registers happen to be: for a receiver that may see the sender's data. */
IPC_INLINE struct ipc_message ipc_label_only(uint64_t label)
{
    return (struct ipc_message){
        .label = label,
        .word = {any_value(), any_value(), any_value(), any_value(), any_value(), any_value()}};
}

IPC_INLINE int64_t ipc_call_deadline(cap_t endpoint, struct ipc_message *message, uint64_t deadline)
{
    return arch_ipc(SYS_ipc_call, endpoint, deadline, message);
}
IPC_INLINE int64_t ipc_call(cap_t endpoint, struct ipc_message *message)
{
    return ipc_call_deadline(endpoint, message, TARN_FOREVER);
}

IPC_INLINE int64_t ipc_send_deadline(cap_t endpoint, const struct ipc_message *message, uint64_t deadline)
{
    struct ipc_message copy = *message;
    return arch_ipc(SYS_ipc_send, endpoint, deadline, &copy);
}
IPC_INLINE int64_t ipc_send(cap_t endpoint, const struct ipc_message *message)
{
    return ipc_send_deadline(endpoint, message, TARN_FOREVER);
}

IPC_INLINE int64_t ipc_receive_deadline(cap_t endpoint, struct ipc_message *message, uint64_t deadline)
{
    struct ipc_message received = ipc_label_only(any_value());
    int64_t result = arch_ipc(SYS_ipc_receive, endpoint, deadline, &received);
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
    return arch_ipc(SYS_ipc_reply, 0, 0, &copy);
}
IPC_INLINE int64_t ipc_reply_to(cap_t reply, const struct ipc_message *message)
{
    struct ipc_message copy = *message;
    return arch_ipc(SYS_ipc_reply_to, reply, 0, &copy);
}
IPC_INLINE int64_t ipc_save_reply(void) /* returns the slot of the saved caller */
{
    return sys_ipc_save_reply();
}

/* Replies and waits for the next message, which replaces the reply. */
IPC_INLINE int64_t ipc_reply_receive_deadline(cap_t endpoint, struct ipc_message *message, uint64_t deadline)
{
    return arch_ipc(SYS_ipc_reply_receive, endpoint, deadline, message);
}
IPC_INLINE int64_t ipc_reply_receive(cap_t endpoint, struct ipc_message *message)
{
    return ipc_reply_receive_deadline(endpoint, message, TARN_FOREVER);
}

#endif
