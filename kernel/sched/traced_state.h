/* SPDX-License-Identifier: BSD-2-Clause */
/* traced_state.h - a thread's state in the trace. */
#ifndef KERNEL_TRACED_STATE_H
#define KERNEL_TRACED_STATE_H

#include <arch/clock.h>
#include <kernel/diagnosis/routines.h>
#include <kernel/sched/thread.h>
#include <trace/sched.h>
#include <trace/syscall.h>

/* Logs the end of what the thread blocked in (thread->traced): it runs again. */
void thread_trace_resumed(struct thread *thread);

/* The part of trace_switch() that returns the event's time: routines are counted. */
uint64_t trace_counted_switch(const struct thread *prev, const struct thread *next,
                              enum thread_state prev_state);

/* Counts a switch at cpu->switched_at: counters or routines are counted. */
void measure_switch(struct cpu *cpu, struct thread *prev, struct thread *next);

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

/* Logs the exit of the system call in thread->traced. Returns what trace_syscall_exit() does. */
static inline uint64_t thread_trace_exit(struct thread *thread, int64_t result)
{
    const uint32_t number = thread->traced & TRACED_NUMBER;
    thread->traced = 0;
    return trace_syscall_exit(number, thread->tid, result);
}

#endif
