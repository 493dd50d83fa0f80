/* SPDX-License-Identifier: BSD-2-Clause */
/* traced_state.c - logs the end of a traced wait. Interface: traced_state.h. */
#include <kernel/sched/traced_state.h>
#include <trace/ipc.h>
#include <trace/syscall.h>

void thread_trace_resumed(struct thread *thread)
{
    bool faulted = thread->message_kind == MESSAGE_FAULT;
    uint32_t number = thread->traced & TRACED_SYSCALL;
    int64_t result = frame_result(&thread->frame);
    if (thread->traced & TRACED_CALL)
        trace_ipc_return(thread->call_id, faulted ? 0 : frame_label(&thread->frame), faulted ? 0 : result);
    if (number != 0)
        trace_syscall_exit(number - 1, thread->tid, result);
    thread->traced = 0;
}
