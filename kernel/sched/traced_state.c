/* SPDX-License-Identifier: BSD-2-Clause */
/* traced_state.c - logs the end of a traced wait, and counts switches. Interface: traced_state.h. */
#include <kernel/diagnosis/counters.h>
#include <kernel/sched/traced_state.h>
#include <trace/counter.h>
#include <trace/ipc.h>
#include <trace/syscall.h>

static inline void trace_return(const struct thread *thread)
{
    if (thread->message_kind == MESSAGE_FAULT)
        trace_ipc_return(thread->call_id, 0, 0);
    else
        trace_ipc_return(thread->call_id, frame_label(&thread->frame), frame_result(&thread->frame));
}

/* The end of what it waited in, by the event that was just logged. */
static inline uint64_t time_of_end(uint32_t traced)
{
    if (traced & TRACED_SYSCALL)
        return PROFILES_TIME_OF(SYSCALL_EXIT, arch_clock());
    return traced & TRACED_CALL ? PROFILES_TIME_OF(IPC_RETURN, arch_clock()) : arch_clock();
}

static __attribute__((noinline, cold)) void measure_resumed(struct thread *thread, uint32_t traced)
{
    if (PROFILES_ON())
        profiles_resume(thread, traced, time_of_end(traced));
    if (TRACE_ON_COUNTER_SYSCALL() && traced & TRACED_SYSCALL)
        counters_leave(thread, traced & TRACED_NUMBER);
}

/* While messages are traced, most switches call it. `cold` is for what the compiler makes of it: less code,
 * and no frame pointer. */
__attribute__((cold)) void thread_trace_resumed(struct thread *thread)
{
    const uint32_t traced = thread->traced;
    thread->traced = 0;
    if (__builtin_expect(profiles_alone, 0)) {
        profiles_resume(thread, traced, arch_clock());
        return;
    }
    if (traced & TRACED_CALL)
        trace_return(thread);
    if (traced & TRACED_SYSCALL)
        trace_syscall_exit(traced & TRACED_NUMBER, thread->tid, frame_result(&thread->frame));
    if (PROFILES_OR(TRACE_CLASS_COUNTER))
        measure_resumed(thread, traced);
}

static __attribute__((noinline, cold)) void count_switch(struct cpu *cpu, struct thread *prev,
                                                         struct thread *next)
{
    counters_switch(cpu, prev);
    if (PROFILES_ON())
        profiles_switched(cpu, prev, next);
}

/* One of the two is on. */
void measure_switch(struct cpu *cpu, struct thread *prev, struct thread *next)
{
    if (TRACE_ON_COUNTER())
        count_switch(cpu, prev, next);
    else
        profiles_switched(cpu, prev, next);
}
