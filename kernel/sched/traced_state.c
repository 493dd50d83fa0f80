/* SPDX-License-Identifier: BSD-2-Clause */
/* traced_state.c - logs the end of a traced wait. Interface: traced_state.h. */
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

static __attribute__((noinline, cold)) void measure_resumed(struct thread *thread, uint32_t traced)
{
    if (PROFILES_ON())
        profiles_resume(thread, traced, traced & TRACED_SYSCALL ? traced_exit_time() : arch_clock());
    if (TRACE_ON_COUNTER_SYSCALL() && traced & TRACED_SYSCALL)
        counters_leave(thread, traced & TRACED_NUMBER);
}

/* While messages are traced, most switches call it. `cold` is for what the compiler makes of it: less code,
 * and no frame pointer. */
__attribute__((cold)) void thread_trace_resumed(struct thread *thread)
{
    const uint32_t traced = thread->traced;
    thread->traced = 0;
    if (traced & TRACED_PLACED)
        placement_note_delay(thread, arch_clock());
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
