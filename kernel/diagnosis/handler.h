/* SPDX-License-Identifier: BSD-2-Clause */
/* handler.h - calls the handler of a system call with the arguments in its caller's frame. */
#ifndef KERNEL_DIAGNOSIS_HANDLER_H
#define KERNEL_DIAGNOSIS_HANDLER_H

#include <kernel/sched/thread.h>
#include <tarn/syscall_kernel.h>

typedef int64_t syscall_handler(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

static inline bool syscall_is_message(uint32_t number)
{
    return number - SYS_ipc_call <= SYS_ipc_reply_to - SYS_ipc_call;
}

/* The result, or SYSCALL_NO_RESULT (arch/cpu.h). A handler of messages may not return. */
static inline int64_t syscall_handle(const struct thread *self, uint32_t number)
{
    const struct arch_frame *frame = &self->frame;
    return ((syscall_handler *)syscall_table[number])(frame_argument(frame, 0), frame_argument(frame, 1),
                                                      frame_argument(frame, 2), frame_argument(frame, 3),
                                                      frame_argument(frame, 4), frame_argument(frame, 5));
}

/* The same, logged as mask and switches say, counted, and sampled. */
int64_t syscall_call_traced(struct thread *self, uint32_t number);

#endif
