/* SPDX-License-Identifier: BSD-2-Clause */
/* traced_state.h - a thread's state in the trace. */
#ifndef KERNEL_TRACED_STATE_H
#define KERNEL_TRACED_STATE_H

#include <arch/clock.h>
#include <kernel/sched/thread.h>
#include <trace/sched.h>

/* Logs the end of what the thread blocked in (thread->traced): it runs again. */
void thread_trace_resumed(struct thread *thread);

/* A switch that follows, behind SPAN_ON(TRACE_CLASS_SCHED): logs it, and returns its time, that of the event,
 * so that accounts agree with the trace. This CPU logs nothing else until `current` has changed: a packet
 * that began in between would have a context that names `prev`. */
uint64_t trace_switch(struct cpu *cpu, const struct thread *prev, const struct thread *next);
/* A switch at cpu->switched_at, behind SPAN_COUNTED(). */
void count_switch(struct cpu *cpu, struct thread *prev, struct thread *next);

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

#endif
