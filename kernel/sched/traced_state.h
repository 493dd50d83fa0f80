/* SPDX-License-Identifier: BSD-2-Clause */
/* traced_state.h - a thread's state in the trace. */
#ifndef KERNEL_TRACED_STATE_H
#define KERNEL_TRACED_STATE_H

#include <arch/clock.h>
#include <kernel/diagnosis/profiles.h>
#include <kernel/sched/thread.h>
#include <trace/sched.h>
#include <trace/syscall.h>

/* Logs the end of what the thread blocked in (thread->traced): it runs again. */
void thread_trace_resumed(struct thread *thread);

/* The number of a state in the trace (trace/schema/sched.ev). */
static inline uint16_t traced_state(enum thread_state state)
{
    static const uint16_t states[] = {
        [THREAD_RUNNING] = TRACE_SCHED_RUNNING,
        [THREAD_READY] = TRACE_SCHED_READY,
        [THREAD_BLOCKED_SEND] = TRACE_SCHED_BLOCKED_IPC_SEND,
        [THREAD_BLOCKED_RECEIVE] = TRACE_SCHED_BLOCKED_IPC_RECEIVE,
        [THREAD_BLOCKED_REPLY] = TRACE_SCHED_BLOCKED_REPLY,
        [THREAD_BLOCKED_NOTIFICATION] = TRACE_SCHED_BLOCKED_NOTIFICATION,
        [THREAD_BLOCKED_FUTEX] = TRACE_SCHED_BLOCKED_FUTEX,
        [THREAD_SLEEPING] = TRACE_SCHED_SLEEPING,
        [THREAD_BLOCKED_FAULT] = TRACE_SCHED_BLOCKED_FAULT,
        [THREAD_SUSPENDED] = TRACE_SCHED_SUSPENDED,
        [THREAD_DEAD] = TRACE_SCHED_DEAD,
    };
    return states[state];
}

/* And back. */
static inline enum thread_state state_of_traced(uint16_t traced)
{
    return (enum thread_state)(traced >> 11);
}
_Static_assert(TRACE_SCHED_READY >> 11 == THREAD_READY &&
                   TRACE_SCHED_BLOCKED_FUTEX >> 11 == THREAD_BLOCKED_FUTEX &&
                   TRACE_SCHED_DEAD >> 11 == THREAD_DEAD,
               "state_of_traced()");

/* Logs the exit of the system call in thread->traced. */
static inline void thread_trace_exit(struct thread *thread, int64_t result)
{
    const uint32_t number = thread->traced & TRACED_NUMBER;
    thread->traced = 0;
    trace_syscall_exit(number, thread->tid, result);
}

#endif
