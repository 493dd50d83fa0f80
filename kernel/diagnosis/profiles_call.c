/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profiles_call.c - counts system calls, messages by their labels, and switches. Interface: profiles.h.
 *
 * A system call for messages that sends a call is counted as a call, by label, instead. What a server does
 * from the receipt of a call to its reply is counted beside, in its thread.
 */
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/diagnosis/entry_paths.h>
#include <kernel/diagnosis/handler.h>
#include <kernel/diagnosis/profile_rows.h>
#include <kernel/explore/explore.h>
#include <kernel/sched/thread.h>
#include <trace/sched.h>

/* ---- Messages ---- */

/* The thread serves a message from the time at which it has received it. */
static inline void begin_serving(const struct thread *self, struct routine_profile *profile, uint32_t number,
                                 int64_t result, uint64_t now)
{
    if ((number == SYS_ipc_receive || number == SYS_ipc_reply_receive) && result == 0 &&
        self->reply_target.caller) {
        profile->served_since = now;
        profile->served_label = frame_label(&self->frame);
    }
}

/* Counts what was served; what is saved to be replied to later is not counted. It is nested in nothing, and
 * has no time of its own. */
static inline void end_serving(struct thread *self, struct routine_profile *profile, uint32_t number,
                               uint64_t now)
{
    const uint64_t since = profile->served_since;
    profile->served_since = 0;
    if (number == SYS_ipc_reply || number == SYS_ipc_reply_receive)
        profile_count(self, &profile->rows, trace_routine_key(TRACE_ROUTINE_SERVED, profile->served_label),
                      since, now - since, 0);
}

static inline __attribute__((always_inline)) void enter_message(struct thread *self, uint32_t number,
                                                                uint64_t now)
{
    struct routine_profile *profile = self->profile;
    if (number == SYS_ipc_call)
        self->routines.at[0].key = trace_routine_key(TRACE_ROUTINE_CALL, frame_label(&self->frame));
    else if (number != SYS_ipc_send && profile && profile->served_since)
        end_serving(self, profile, number, now);
}

/* It did not block. A call that was not sent is only a system call. */
static __attribute__((noinline)) void leave_message(struct thread *self, uint32_t number, int64_t result,
                                                    uint64_t now)
{
    struct routine_profile *profile = self->profile;
    self->routines.at[0].key = number;
    if (!profile || !self->routines.depth)
        return;
    routine_end(self, &profile->rows, &self->routines, 0, now);
    begin_serving(self, profile, number, result, now);
}

/* ---- System calls that are counted alone ---- */

/* The key of a system call is its number. */
_Static_assert(TRACE_ROUTINE_SYSCALL == 0, "trace_routine_key()");

static __attribute__((noinline)) int64_t call(struct thread *self, uint32_t number)
{
    self->traced = number | TRACED_SYSCALL;
    routine_begin(&self->routines, 0, number, arch_clock());
    const int64_t result = syscall_handle(self, number);
    struct routine_profile *profile = self->profile;
    if (result == SYSCALL_NO_RESULT || !profile)
        return result;
    self->traced = 0;
    routine_end(self, &profile->rows, &self->routines, 0, arch_clock());
    return result;
}

static __attribute__((noinline)) int64_t call_message(struct thread *self, uint32_t number)
{
    self->traced = number | TRACED_SYSCALL;
    const uint64_t now = arch_clock();
    routine_begin(&self->routines, 0, number, now);
    enter_message(self, number, now);
    const int64_t result = syscall_handle(self, number);
    if (result != SYSCALL_NO_RESULT) {
        self->traced = 0;
        leave_message(self, number, result, arch_clock());
    }
    return result;
}

/* Here, so that counting one takes no further call. */
int64_t syscall_call_watched(struct thread *self, uint64_t number)
{
    const uint8_t watched = __atomic_load_n(&syscall_watched[number], __ATOMIC_RELAXED);
    explore_enters_kernel();
    if (explore_needs_entries() && watched == SYSCALL_EXPLORED)
        return syscall_handle(self, (uint32_t)number);
    if (watched == SYSCALL_COUNTED)
        return call(self, (uint32_t)number);
    if (watched == SYSCALL_COUNTED_MESSAGE)
        return call_message(self, (uint32_t)number);
    return syscall_call_traced(self, (uint32_t)number);
}

/* ---- System calls ---- */

void profiles_enter_syscall(struct thread *self, uint32_t number, uint64_t now)
{
    routine_begin(&self->routines, 0, number, now);
    if (syscall_is_message(number))
        enter_message(self, number, now);
}

void profiles_leave_syscall(struct thread *self, uint32_t number, int64_t result, uint64_t now)
{
    if (syscall_is_message(number))
        leave_message(self, number, result, now);
    else if (self->profile && self->routines.depth)
        routine_end(self, &self->profile->rows, &self->routines, 0, now);
}

void profiles_restart_syscall(struct thread *self, uint64_t now)
{
    self->routines.at[0].key = self->traced & TRACED_NUMBER;
    profiles_end(self, now);
}

/* Only at its end is it known which kind of fault it was. */
static __attribute__((noinline)) void resume_fault(struct thread *thread, struct routine_profile *profile,
                                                   uint32_t traced, uint64_t now)
{
    uint64_t *key = &thread->routines.at[0].key;
    if (traced & TRACED_FAULT && trace_routine_kind(*key) == TRACE_ROUTINE_FAULT)
        *key = trace_routine_key(TRACE_ROUTINE_FAULT, thread->fault_kind);
    routine_end(thread, &profile->rows, &thread->routines, 0, now);
}

void profiles_resume(struct thread *thread, uint32_t traced, uint64_t now)
{
    struct routine_profile *profile = thread->profile;
    if (!thread->routines.depth || !profile)
        return;
    if (!(traced & TRACED_SYSCALL)) {
        resume_fault(thread, profile, traced, now);
        return;
    }
    begin_serving(thread, profile, traced & TRACED_NUMBER, frame_result(&thread->frame), now);
    routine_end(thread, &profile->rows, &thread->routines, 0, now);
}

/* ---- Switches ---- */

/* The thread was OUT in a system call. Both end now, because nothing logs them apart. */
static __attribute__((noinline)) void end_wait(struct thread *thread, struct routine_profile *profile,
                                               uint64_t now)
{
    const struct open_routine *call = &thread->routines.at[0], *out = &thread->routines.at[1];
    const uint64_t waited = now - out->since, elapsed = now - call->since;
    begin_serving(thread, profile, thread->traced & TRACED_NUMBER, frame_result(&thread->frame), now);
    thread->traced &= ~(TRACED_SYSCALL | TRACED_NUMBER);
    thread->routines.depth = 0;
    profile->rows.program->kernel += elapsed;
    profile_count(thread, &profile->rows, out->key, out->since, waited, waited);
    profile_count(thread, &profile->rows, call->key, call->since, elapsed, elapsed - call->nested - waited);
}

/* A thread with a profile of this epoch was switched away from in it, so the innermost that it is in is OUT.
 */
static inline __attribute__((always_inline)) void count_switch(struct cpu *cpu, struct thread *prev,
                                                               struct thread *next, uint16_t state)
{
    const uint64_t now = cpu->switched_at;
    const uint32_t depth = next->routines.depth;
    struct routine_profile *profile = next->profile;
    /* a thread that runs can begin one more */
    routine_begin(&prev->routines, routine_depth(&prev->routines),
                  trace_routine_key(TRACE_ROUTINE_OUT, state), now);
    if (__builtin_expect(!profile_is_current(profile), 0))
        profile_make(next);
    else if (depth == 2 && next->traced & TRACED_SYSCALL && profiles_alone)
        end_wait(next, profile, now);
    else if (depth)
        routine_end(next, &profile->rows, &next->routines, depth - 1, now);
}

void profiles_switched(struct cpu *cpu, struct thread *prev, struct thread *next)
{
    /* prev may have been woken since the event */
    if (__builtin_expect(TRACE_ON_SCHED(), 0))
        count_switch(cpu, prev, next, cpu->switch_state);
    else
        count_switch(cpu, prev, next, (uint16_t)atomic_load_explicit(&prev->state, memory_order_relaxed));
}
