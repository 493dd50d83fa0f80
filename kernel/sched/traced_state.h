/* traced_state.h - a thread's state in the trace. */
#pragma once

#include <kernel/sched/thread.h>
#include <trace/sched.h>

/* States of an idle CPU, as in Linux's cpu_idle event. */
enum { TRACED_WAKE = ~0u, TRACED_SLEEP = 1 };

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
