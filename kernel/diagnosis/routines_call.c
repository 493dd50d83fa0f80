/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * routines_call.c - counts system calls, messages by their labels, and switches. Interface: routines.h.
 *
 * A system call for messages that sends a call is counted as a call, by label, instead. What a server does
 * from the receipt of a call to its reply is counted beside, in its thread.
 */
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/diagnosis/entry_paths.h>
#include <kernel/diagnosis/handler.h>
#include <kernel/diagnosis/routine_rows.h>
#include <kernel/explore/explore.h>
#include <kernel/sched/thread.h>
#include <trace/sched.h>

/* ---- Messages ---- */

/* The thread serves a message from the time at which it has received it. */
static inline void begin_serving(const struct thread *self, struct routine_table *table, uint32_t number,
                                 int64_t result, uint64_t now)
{
    if ((number == SYS_ipc_receive || number == SYS_ipc_reply_receive) && result == 0 &&
        self->reply_target.caller) {
        table->served_since = now;
        table->served_label = frame_label(&self->frame);
    }
}

/* Counts what was served; what is saved to be replied to later is not counted. It is nested in nothing, and
 * has no time of its own. */
static inline void end_serving(struct thread *self, struct routine_table *table, uint32_t number,
                               uint64_t now)
{
    const uint64_t since = table->served_since;
    table->served_since = 0;
    if (number == SYS_ipc_reply || number == SYS_ipc_reply_receive)
        routine_count(self, &table->rows, trace_routine_key(TRACE_ROUTINE_SERVED, table->served_label), since,
                      now - since, 0);
}

static inline __attribute__((always_inline)) void enter_message(struct thread *self, uint32_t number,
                                                                uint64_t now)
{
    struct routine_table *table = self->routine_table;
    if (number == SYS_ipc_call)
        self->routines.at[0].key = trace_routine_key(TRACE_ROUTINE_CALL, frame_label(&self->frame));
    else if (number != SYS_ipc_send && table && table->served_since)
        end_serving(self, table, number, now);
}

/* It did not block. A call that was not sent is only a system call. */
static __attribute__((noinline)) void leave_message(struct thread *self, uint32_t number, int64_t result,
                                                    uint64_t now)
{
    struct routine_table *table = self->routine_table;
    self->routines.at[0].key = number;
    if (!table || !self->routines.depth)
        return;
    routine_end(self, &table->rows, &self->routines, 0, now);
    begin_serving(self, table, number, result, now);
}

/* ---- System calls that are counted alone ---- */

/* The key of a system call is its number. */
_Static_assert(TRACE_ROUTINE_SYSCALL == 0, "trace_routine_key()");

static __attribute__((noinline)) int64_t call(struct thread *self, uint32_t number)
{
    self->traced = number | TRACED_SYSCALL;
    routine_begin(&self->routines, 0, number, arch_clock());
    const int64_t result = syscall_handle(self, number);
    struct routine_table *table = self->routine_table;
    if (result == SYSCALL_NO_RESULT || !table)
        return result;
    self->traced = 0;
    routine_end(self, &table->rows, &self->routines, 0, arch_clock());
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
        /* on ppc64 a handler of messages may have changed the register with `number` (arch/ppc64/build.mk) */
        const uint32_t entered = self->traced & TRACED_NUMBER;
        self->traced = 0;
        leave_message(self, entered, result, arch_clock());
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

void routines_enter_syscall(struct thread *self, uint32_t number, uint64_t now)
{
    routine_begin(&self->routines, 0, number, now);
    if (syscall_is_message(number))
        enter_message(self, number, now);
}

void routines_leave_syscall(struct thread *self, uint32_t number, int64_t result, uint64_t now)
{
    if (syscall_is_message(number))
        leave_message(self, number, result, now);
    else if (self->routine_table && self->routines.depth)
        routine_end(self, &self->routine_table->rows, &self->routines, 0, now);
}

void routines_restart_syscall(struct thread *self, uint64_t now)
{
    self->routines.at[0].key = self->traced & TRACED_NUMBER;
    routines_end(self, now);
}

/* Only at its end is it known which kind of fault it was. */
static __attribute__((noinline)) void resume_fault(struct thread *thread, struct routine_table *table,
                                                   uint32_t traced, uint64_t now)
{
    uint64_t *key = &thread->routines.at[0].key;
    if (traced & TRACED_FAULT && trace_routine_kind(*key) == TRACE_ROUTINE_FAULT)
        *key = trace_routine_key(TRACE_ROUTINE_FAULT, thread->fault_kind);
    routine_end(thread, &table->rows, &thread->routines, 0, now);
}

void routines_resume(struct thread *thread, uint32_t traced, uint64_t now)
{
    struct routine_table *table = thread->routine_table;
    if (!thread->routines.depth || !table)
        return;
    if (!(traced & TRACED_SYSCALL)) {
        resume_fault(thread, table, traced, now);
        return;
    }
    begin_serving(thread, table, traced & TRACED_NUMBER, frame_result(&thread->frame), now);
    routine_end(thread, &table->rows, &thread->routines, 0, now);
}

/* ---- Switches ---- */

/* The thread was OUT in a system call. Both end now, because nothing logs them apart. */
static __attribute__((noinline)) void end_wait(struct thread *thread, struct routine_table *table,
                                               uint64_t now)
{
    const struct open_routine *call = &thread->routines.at[0], *out = &thread->routines.at[1];
    const uint64_t waited = now - out->since, elapsed = now - call->since;
    begin_serving(thread, table, thread->traced & TRACED_NUMBER, frame_result(&thread->frame), now);
    thread->traced &= ~(TRACED_SYSCALL | TRACED_NUMBER);
    thread->routines.depth = 0;
    table->rows.program->kernel += elapsed;
    routine_count(thread, &table->rows, out->key, out->since, waited, waited);
    routine_count(thread, &table->rows, call->key, call->since, elapsed, elapsed - call->nested - waited);
}

/* A thread with a table of this epoch was switched away from in it, so the innermost that it is in is OUT.
 */
static inline __attribute__((always_inline)) void count_switch(struct cpu *cpu, struct thread *prev,
                                                               struct thread *next, uint16_t state)
{
    const uint64_t now = cpu->switched_at;
    const uint32_t depth = next->routines.depth;
    struct routine_table *table = next->routine_table;
    /* a thread that runs can begin one more */
    routine_begin(&prev->routines, routine_depth(&prev->routines),
                  trace_routine_key(TRACE_ROUTINE_OUT, state), now);
    if (__builtin_expect(!routines_are_current(table), 0))
        routines_make(next);
    else if (depth == 2 && next->traced & TRACED_SYSCALL && routines_alone)
        end_wait(next, table, now);
    else if (depth)
        routine_end(next, &table->rows, &next->routines, depth - 1, now);
}

void routines_switched(struct cpu *cpu, struct thread *prev, struct thread *next)
{
    /* prev may have been woken since the event */
    if (__builtin_expect(TRACE_ON_SCHED(), 0))
        count_switch(cpu, prev, next, cpu->switch_state);
    else
        count_switch(cpu, prev, next, (uint16_t)atomic_load_explicit(&prev->state, memory_order_relaxed));
}
