/* SPDX-License-Identifier: BSD-2-Clause */
/* syscall.c - tracing of system calls, and the system calls without an object. */
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/diagnosis/counters.h>
#include <kernel/diagnosis/handler.h>
#include <kernel/diagnosis/profile.h>
#include <kernel/diagnosis/routines.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/sched/traced_state.h>
#include <kernel/space/space.h>
#include <kernel/space/user_copy.h>
#include <kernel/syscall/machine.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>
#include <trace/counter.h>
#include <trace/syscall.h>

#define LOG_TEXT_MAX 256u

/* ---- Tracing ---- */

/* Opens a profiling window (profile.h). An IPC handler that does not return must pass kernel_exit, which
 * closes it. */
static __attribute__((noinline, cold)) void open_window(const struct thread *self)
{
    const uint32_t number = self->traced & TRACED_NUMBER;
    if (!ARCH_SWITCHED_RETURNS && syscall_is_message(number))
        atomic_store_explicit(&this_cpu()->need_resched, 1, memory_order_relaxed);
    profile_open_window();
}

static __attribute__((noinline, cold)) void enter_measured(struct thread *self, uint64_t logged)
{
    if (ROUTINES_ON())
        routines_enter_syscall(self, self->traced & TRACED_NUMBER, routines_time(logged));
    if (TRACE_ON_COUNTER_SYSCALL())
        counters_enter(self);
    if (profile_period != 0)
        open_window(self);
}

static inline void note_entry(struct thread *self, uint32_t number)
{
    const struct arch_frame *frame = &self->frame;
    self->traced = number | TRACED_SYSCALL;
    const uint64_t logged =
        trace_syscall_entry(number, self->tid, frame_argument(frame, 0), frame_argument(frame, 1));
    if (ROUTINES_OR(TRACE_CLASS_COUNTER))
        enter_measured(self, logged);
    else if (__builtin_expect(profile_period != 0, 0))
        open_window(self);
}

/* Apart, so that note_exit() needs no register that a call keeps. */
static __attribute__((noinline, cold)) int64_t measured_left(int64_t result, struct thread *self)
{
    const uint32_t number = self->traced & TRACED_NUMBER;
    if (this_cpu()->profile.window)
        profile_close_window();
    const uint64_t logged = thread_trace_exit(self, result);
    if (ROUTINES_ON())
        routines_leave_syscall(self, number, result, routines_time(logged));
    if (TRACE_ON_COUNTER_SYSCALL())
        counters_leave(self, number);
    return result;
}

static inline int64_t note_exit(struct thread *self, int64_t result)
{
    if (ROUTINES_OR(TRACE_CLASS_COUNTER))
        return measured_left(result, self);
    if (__builtin_expect(this_cpu()->profile.window, 0))
        return measured_left(result, self);
    thread_trace_exit(self, result);
    return result;
}

/* If it blocks, its end is noted when the thread runs again (switch_to), by the number in the thread. */
int64_t syscall_call_traced(struct thread *self, uint32_t number)
{
    note_entry(self, number);
    const int64_t result = syscall_handle(self, number);
    if (result != SYSCALL_NO_RESULT)
        return note_exit(self, result);
    if (this_cpu()->profile.window)
        profile_close_window();
    return result;
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
