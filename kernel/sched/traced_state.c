/* SPDX-License-Identifier: BSD-2-Clause */
/* traced_state.c - logs switches and the end of a traced wait, and counts them. Interface: traced_state.h. */
#include <kernel/cpu/cpu.h>
#include <kernel/diagnosis/counters.h>
#include <kernel/diagnosis/span.h>
#include <kernel/sched/traced_state.h>
#include <trace/ipc.h>
#include <trace/syscall.h>

/* Another CPU may have ended the old thread's wait already: then it is ready. */
__attribute__((cold)) uint64_t trace_switch(struct cpu *cpu, const struct thread *prev,
                                            const struct thread *next)
{
    const enum thread_state state = atomic_load_explicit(&prev->state, memory_order_relaxed);
    cpu->switch_state = (uint8_t)state;
    cpu->switch_logged_at = cpu->switched_at;
    atomic_signal_fence(memory_order_seq_cst); /* for profile_kernel, which interrupts */
    return routines_time(trace_sched_switch_timed(
        prev->block->name, prev->tid, traced_state(state), (uint16_t)thread_priority(prev), next->block->name,
        next->tid, (uint16_t)thread_priority(next), prev->block->pid, next->block->pid));
}

static inline uint64_t trace_return(const struct thread *thread)
{
    if (thread->message_kind == MESSAGE_FAULT)
        return trace_ipc_return(thread->call_id, 0, 0);
    return trace_ipc_return(thread->call_id, frame_label(&thread->frame), frame_result(&thread->frame));
}

/* `logged`: the end of what it waited in. */
static __attribute__((noinline, cold)) void measure_resumed(struct thread *thread, uint32_t traced,
                                                            uint64_t logged)
{
    if (ROUTINES_ON())
        routines_resume(thread, traced, routines_time(logged));
    if (TRACE_ON_COUNTER_SYSCALL() && traced & TRACED_SYSCALL)
        counters_leave(thread, traced & TRACED_NUMBER);
}

/* While messages are traced, most switches call it. `cold` is for what the compiler makes of it: less code,
 * and no frame pointer. */
__attribute__((cold)) void thread_trace_resumed(struct thread *thread)
{
    const uint32_t traced = thread->traced;
    thread->traced = 0;
    uint64_t logged = TRACE_NOT_LOGGED;
    if (traced & TRACED_CALL)
        logged = trace_return(thread);
    if (traced & TRACED_SYSCALL)
        logged = trace_syscall_exit(traced & TRACED_NUMBER, thread->tid, frame_result(&thread->frame));
    if (SPAN_COUNTED())
        measure_resumed(thread, traced, logged);
}

__attribute__((cold)) void count_switch(struct cpu *cpu, struct thread *prev, struct thread *next)
{
    if (TRACE_ON_COUNTER())
        counters_switch(cpu, prev);
    if (ROUTINES_ON())
        routines_switched(cpu, prev, next);
}
