/*
 * routines_call.c - counts system calls, messages by their labels, and switches. Interface: routines.h.
 *
 * A system call that sends a call counts as that call, by label. A server's work from receipt to reply is
 * counted separately, in its thread.
 */
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/diagnosis/routine_rows.h>
#include <kernel/ipc/ipc.h>
#include <kernel/sched/thread.h>

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

/* Counts a served message, unless its reply was saved for later. It is nested in nothing, and has no
 * exclusive time. */
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

/* ---- System calls ---- */

/* The key of a system call is its number. */
_Static_assert(TRACE_ROUTINE_SYSCALL == 0, "trace_routine_key()");

void routines_enter_syscall(struct thread *self, uint32_t number, uint64_t now)
{
    routine_begin(&self->routines, 0, number, now);
    if (syscall_is_message(number))
        enter_message(self, number, now);
}

/* A call that was not sent is only a system call. */
void routines_leave_syscall(struct thread *thread, uint32_t number, int64_t result, bool waited, uint64_t now)
{
    struct routine_table *table = thread->routine_table;
    if (!waited)
        thread->routines.at[0].key = number;
    if (!table || !thread->routines.depth)
        return;
    begin_serving(thread, table, number, result, now);
    routine_end(thread, &table->rows, &thread->routines, 0, now); /* last: no register is saved for it */
}

/* The kind of a fault is known only at its end. */
void routines_resume_fault(struct thread *thread, bool counted, uint64_t now)
{
    struct routine_table *table = thread->routine_table;
    uint64_t *key = &thread->routines.at[0].key;
    if (!table || !thread->routines.depth)
        return;
    if (counted && trace_routine_kind(*key) == TRACE_ROUTINE_FAULT)
        *key = trace_routine_key(TRACE_ROUTINE_FAULT, thread->fault_kind);
    routine_end(thread, &table->rows, &thread->routines, 0, now);
}

/* ---- Switches ---- */

/* If `next` has a table of this epoch, it left the CPU in this epoch, so its innermost routine is OUT. `prev`
 * may have been woken since the switch was logged. */
void routines_switched(struct cpu *cpu, struct thread *prev, struct thread *next)
{
    const uint64_t now = cpu->switched_at;
    const uint32_t depth = next->routines.depth;
    struct routine_table *table = next->routine_table;
    /* a thread that runs can begin one more */
    routine_begin(&prev->routines, routine_depth(&prev->routines),
                  trace_routine_key(TRACE_ROUTINE_OUT, cpu->switch_state), now);
    if (__builtin_expect(!routines_are_current(table), 0))
        routines_make(next);
    else if (depth)
        routine_end(next, &table->rows, &next->routines, depth - 1, now);
}
