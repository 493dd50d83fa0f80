/* SPDX-License-Identifier: BSD-2-Clause */
/* syscall.c - the span of a system call, and the system calls without an object. */
#include <kernel/cpu/cpu.h>
#include <kernel/diagnosis/counters.h>
#include <kernel/diagnosis/span.h>
#include <kernel/explore/explore.h>
#include <kernel/ipc/ipc.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <kernel/space/user_copy.h>
#include <kernel/syscall/machine.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>
#include <trace/counter.h>
#include <trace/syscall.h>

#define LOG_TEXT_MAX 256u

/* ---- The span of a system call ---- */

typedef int64_t handler(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

/* Opens a profiling window (profile.h). An IPC handler that does not return must pass kernel_exit, which
 * closes it. */
static void open_window(uint32_t number)
{
    if (!ARCH_SWITCHED_RETURNS && syscall_is_message(number))
        atomic_store_explicit(&this_cpu()->need_resched, 1, memory_order_relaxed);
    profile_open_window();
}

static __attribute__((noinline, cold)) void begin_counted(struct thread *self, uint64_t logged)
{
    const uint32_t number = self->traced & TRACED_NUMBER;
    if (ROUTINES_ON())
        routines_enter_syscall(self, number, routines_time(logged));
    if (TRACE_ON_COUNTER_SYSCALL())
        counters_enter(self);
    if (profile_period != 0)
        open_window(number);
}

static __attribute__((noinline, cold)) int64_t end_counted(int64_t result)
{
    struct thread *self = current_thread();
    const uint32_t number = self->traced & TRACED_NUMBER;
    profile_close_window();
    if (result == SYSCALL_NO_RESULT)
        return result;
    self->traced = 0;
    const uint64_t logged = trace_syscall_exit(number, self->tid, result);
    if (ROUTINES_ON())
        routines_leave_syscall(self, number, result, routines_time(logged));
    if (TRACE_ON_COUNTER_SYSCALL())
        counters_leave(self, number);
    return result;
}

/* If it blocks, it ends when the thread runs again (thread_trace_resumed). */
static __attribute__((noinline)) int64_t end(int64_t result)
{
    struct thread *self = current_thread();
    const uint32_t number = self->traced & TRACED_NUMBER;
    if (result != SYSCALL_NO_RESULT) {
        self->traced = 0;
        trace_syscall_exit(number, self->tid, result);
    }
    return result;
}

/* Needs nothing after the handler that was in a register before: see arch/cpu.h. */
int64_t syscall_call_traced(struct thread *self, uint64_t number)
{
    const struct arch_frame *frame = &self->frame;
    explore_enters_kernel();
    self->traced = (uint32_t)number | TRACED_SYSCALL;
    const uint64_t logged =
        trace_syscall_entry((uint32_t)number, self->tid, frame_argument(frame, 0), frame_argument(frame, 1));
    if (SPAN_COUNTED())
        begin_counted(self, logged);
    const int64_t result = ((handler *)syscall_table[number])(
        frame_argument(frame, 0), frame_argument(frame, 1), frame_argument(frame, 2),
        frame_argument(frame, 3), frame_argument(frame, 4), frame_argument(frame, 5));
    return SPAN_COUNTED() ? end_counted(result) : end(result);
}

/* ---- System calls without an object ---- */

int64_t sys_null(void)
{
    return 0;
}

int64_t sys_debug_write(const char *user_text, uint64_t size)
{
    char text[LOG_TEXT_MAX];
    if (size > sizeof text)
        size = sizeof text;
    int64_t error = user_read(text, user_text, size);
    if (error)
        return error;
    console_write(text, size);
    return (int64_t)size;
}
