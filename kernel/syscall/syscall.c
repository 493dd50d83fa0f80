/* SPDX-License-Identifier: BSD-2-Clause */
/* syscall.c - tracing of system calls, and the system calls without an object. */
#include <kernel/cpu/cpu.h>
#include <kernel/diagnosis/profile.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <kernel/space/user_copy.h>
#include <kernel/syscall/machine.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>
#include <trace/syscall.h>

#define LOG_TEXT_MAX 256u

/* ---- Tracing ---- */

/* In a profiling window (profile.h). An IPC handler that does not return must pass kernel_exit, which
 * closes the window. */
static int64_t call_sampled(uint64_t number, struct arch_frame *frame)
{
    struct cpu *cpu = this_cpu();
    if (!ARCH_SWITCHED_RETURNS && number >= SYS_ipc_call && number <= SYS_ipc_reply_to)
        atomic_store_explicit(&cpu->need_resched, 1, memory_order_relaxed);
    profile_open_window();
    int64_t result = arch_call_syscall(number, frame);
    profile_close_window();
    return result;
}

/* Keeps the number in the thread: if it blocks, the exit is logged when it runs again (switch_to). */
int64_t syscall_traced(uint64_t number, struct arch_frame *frame)
{
    struct thread *self = current_thread();
    trace_syscall_entry((uint32_t)number, self->tid, frame_argument(frame, 0), frame_argument(frame, 1));
    self->traced = (uint32_t)number + 1;
    int64_t result = profile_period ? call_sampled(number, frame) : arch_call_syscall(number, frame);
    if (result != SYSCALL_NO_RESULT) {
        self->traced = 0;
        trace_syscall_exit((uint32_t)number, self->tid, result);
    }
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
