/*
 * span.c - begins and ends system calls, faults, exceptions, calls of servers, and switches, for all
 * observers. Interface: span.h.
 *
 * A span in which a thread blocks ends when the thread runs again (thread_trace_resumed); until then it is in
 * thread->traced.
 */
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/explore.h>
#include <kernel/cpu/span.h>
#include <kernel/diagnosis/counters.h>
#include <kernel/diagnosis/profile.h>
#include <kernel/diagnosis/routines.h>
#include <kernel/ipc/ipc.h>
#include <kernel/sched/switch.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>
#include <trace/exception.h>
#include <trace/fault.h>
#include <trace/ipc.h>
#include <trace/syscall.h>

void span_begun(enum trace_routine_kind kind, uint64_t argument, uint64_t logged)
{
    if (ROUTINES_ON())
        routines_begin(current_thread(), false, kind, argument, routines_time(logged));
}

void span_ended(uint64_t logged)
{
    if (ROUTINES_ON())
        routines_end(current_thread(), routines_time(logged));
}

/* ---- System calls ---- */

typedef int64_t handler(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

/* Opens a profiling window (profile.h). An IPC handler that does not return must pass kernel_exit, which
 * closes it. */
static void open_window(uint32_t number)
{
    if (!ARCH_SWITCHED_RETURNS && syscall_is_message(number))
        atomic_store_explicit(&this_cpu()->need_resched, 1, memory_order_relaxed);
    profile_open_window();
}

static __attribute__((noinline, cold)) void count_entry(struct thread *self, uint32_t number, uint64_t logged)
{
    if (ROUTINES_ON())
        routines_enter_syscall(self, number, routines_time(logged));
    if (TRACE_ON_COUNTER_SYSCALL())
        counters_enter(self);
    if (profile_period != 0)
        open_window(number);
}

static __attribute__((noinline, cold)) void count_exit(struct thread *thread, uint32_t number, int64_t result,
                                                       bool waited, uint64_t logged)
{
    if (ROUTINES_ON())
        routines_leave_syscall(thread, number, result, waited, routines_time(logged));
    if (TRACE_ON_COUNTER_SYSCALL())
        counters_leave(thread, number);
}

static inline __attribute__((always_inline)) void end_syscall(struct thread *thread, uint32_t number,
                                                              int64_t result, bool waited)
{
    const uint64_t logged = trace_syscall_exit(number, thread->tid, result);
    if (SPAN_COUNTED())
        count_exit(thread, number, result, waited, logged);
}

/* Keeps nothing in registers across the handler (arch/cpu.h). */
int64_t syscall_call_traced(struct thread *self, uint64_t number)
{
    const struct arch_frame *frame = &self->frame;
    explore_enters_kernel();
    self->traced = (uint32_t)number | TRACED_SYSCALL;
    const uint64_t logged =
        trace_syscall_entry((uint32_t)number, self->tid, frame_argument(frame, 0), frame_argument(frame, 1));
    if (SPAN_COUNTED())
        count_entry(self, (uint32_t)number, logged);
    const int64_t result = ((handler *)syscall_table[number])(
        frame_argument(frame, 0), frame_argument(frame, 1), frame_argument(frame, 2),
        frame_argument(frame, 3), frame_argument(frame, 4), frame_argument(frame, 5));
    struct cpu *cpu = this_cpu();
    /* Sampling may have ended meanwhile, if the call waited for other CPUs and answered their calls. */
    if (__builtin_expect(cpu->profile.window, 0))
        profile_close_window();
    if (result != SYSCALL_NO_RESULT) {
        struct thread *caller = cpu->current;
        const uint32_t called = caller->traced & TRACED_NUMBER;
        caller->traced = 0;
        end_syscall(caller, called, result, false);
    }
    return result;
}

void span_restart_syscall(struct thread *self)
{
    const uint32_t number = self->traced & TRACED_NUMBER;
    self->traced &= ~(TRACED_SYSCALL | TRACED_NUMBER);
    end_syscall(self, number, -E_AGAIN, false);
}

/* ---- Faults and exceptions ---- */

__attribute__((cold)) void fault_begun(struct thread *self, const struct fault_request *request, uint64_t ip,
                                       bool from_kernel)
{
    const uint64_t logged = trace_fault_entry(request->address, ip, self->tid, request->access);
    if (ROUTINES_ON())
        routines_begin(self, from_kernel, TRACE_ROUTINE_FAULT, 0, routines_time(logged));
    if (profile_period && !from_kernel)
        profile_open_window();
}

__attribute__((cold)) void fault_ended(struct thread *self, const struct fault_request *request,
                                       uint32_t kind, uint64_t since, bool from_kernel)
{
    if (!from_kernel && this_cpu()->profile.window)
        profile_close_window();
    const uint64_t logged = trace_fault_exit(request->address, arch_clock() - since, kind, self->tid);
    if (ROUTINES_ON())
        routines_end_as(self, TRACE_ROUTINE_FAULT, kind, routines_time(logged));
}

__attribute__((cold)) void fault_waits(struct thread *self)
{
    profile_close_window();
    self->fault_kind = TRACE_FAULT_BAD;
    if (ROUTINES_ON())
        self->traced |= TRACED_FAULT;
}

__attribute__((cold)) void exception_begun(struct thread *self, uint32_t vector, uint64_t code, uint64_t ip)
{
    span_begun(TRACE_ROUTINE_EXCEPTION, vector, trace_exception_entry(vector, self->tid, ip, code));
    fault_waits(self);
}

/* ---- Switches ---- */

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

__attribute__((cold)) void count_switch(struct cpu *cpu, struct thread *prev, struct thread *next)
{
    if (TRACE_ON_COUNTER())
        counters_switch(cpu, prev);
    if (ROUTINES_ON())
        routines_switched(cpu, prev, next);
}

static inline uint64_t trace_return(const struct thread *thread)
{
    if (thread->message_kind == MESSAGE_FAULT)
        return trace_ipc_return(thread->call_id, 0, 0);
    return trace_ipc_return(thread->call_id, frame_label(&thread->frame), frame_result(&thread->frame));
}

/* `cold` makes the code smaller, without a frame pointer. It is not rare: while messages are traced, most
 * switches call it. */
__attribute__((cold)) void thread_trace_resumed(struct thread *thread)
{
    const uint32_t traced = thread->traced;
    thread->traced = 0;
    uint64_t logged = TRACE_NOT_LOGGED;
    if (traced & TRACED_CALL)
        logged = trace_return(thread);
    if (traced & TRACED_SYSCALL)
        end_syscall(thread, traced & TRACED_NUMBER, frame_result(&thread->frame), true);
    else if (ROUTINES_ON())
        routines_resume_fault(thread, traced & TRACED_FAULT, routines_time(logged));
}

/* ---- Locks ---- */

/* The CPU may switch, or its thread end: slabs keep its memory a thread (slab.h). */
struct lock_holder lock_holder_of(const struct cpu *cpu)
{
    const struct thread *thread = cpu ? __atomic_load_n(&cpu->current, __ATOMIC_RELAXED) : NULL;
    if (!thread)
        return (struct lock_holder){UINT32_MAX, UINT32_MAX, cpu ? cpu->index : UINT32_MAX};
    const struct space *space = __atomic_load_n(&thread->space, __ATOMIC_RELAXED);
    return (struct lock_holder){thread->tid, space ? space->pid : 0, cpu->index};
}
