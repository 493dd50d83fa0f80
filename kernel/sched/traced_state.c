/* SPDX-License-Identifier: BSD-2-Clause */
/* traced_state.c - logs the end of a traced wait, and counts switches. Interface: traced_state.h. */
#include <kernel/cpu/cpu.h>
#include <kernel/diagnosis/counters.h>
#include <kernel/sched/traced_state.h>
#include <trace/counter.h>
#include <trace/ipc.h>
#include <trace/syscall.h>

/* Apart from those who switch: it needs one register more. */
__attribute__((cold)) uint64_t trace_counted_switch(const struct thread *prev, const struct thread *next,
                                                    enum thread_state prev_state)
{
    this_cpu()->switch_state = (uint8_t)prev_state;
    return routines_time(trace_sched_switch_timed(
        prev->block->name, prev->tid, traced_state(prev_state), (uint16_t)thread_priority(prev),
        next->block->name, next->tid, (uint16_t)thread_priority(next), prev->block->pid, next->block->pid));
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
    if (__builtin_expect(routines_alone, 0)) {
        routines_resume(thread, traced, arch_clock());
        return;
    }
    uint64_t logged = TRACE_NOT_LOGGED;
    if (traced & TRACED_CALL)
        logged = trace_return(thread);
    if (traced & TRACED_SYSCALL)
        logged = trace_syscall_exit(traced & TRACED_NUMBER, thread->tid, frame_result(&thread->frame));
    if (ROUTINES_OR(TRACE_CLASS_COUNTER))
        measure_resumed(thread, traced, logged);
}

static __attribute__((noinline, cold)) void count_switch(struct cpu *cpu, struct thread *prev,
                                                         struct thread *next)
{
    counters_switch(cpu, prev);
    if (ROUTINES_ON())
        routines_switched(cpu, prev, next);
}

void measure_switch(struct cpu *cpu, struct thread *prev, struct thread *next)
{
    if (TRACE_ON_COUNTER())
        count_switch(cpu, prev, next);
    else if (ROUTINES_ON())
        routines_switched(cpu, prev, next);
}
