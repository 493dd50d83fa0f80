/*
 * span.h - spans: activities with a begin and an end (system call, fault, interrupt), each written once,
 * where it happens.
 *
 * If nothing listens, begin and end are one instruction each, a site (trace/sites.c). The site is on while
 * events of the class are, routines or hardware counters are counted, or samples are taken. Then the argument
 * `log` is evaluated, which logs the event, and the routine is counted at the event's time. A system call's
 * site is in the port's entry.S, which then calls syscall_call_traced (arch/cpu.h).
 */
#pragma once

#include <kernel/hook.h>
#include <trace/counter.h>
#include <trace/format/routine.h>

/* Whether anything listens. */
#ifdef TRACE_TESTED
static inline bool SPAN_ON(unsigned class_number)
{
    return arch_trace_enabled(class_number);
}
#else
static inline __attribute__((always_inline)) bool SPAN_ON(unsigned class_number)
{
    return arch_trace_site(TRACE_ID(class_number, TRACE_SITE_SPAN));
}
#endif

/* Whether anything but the span's own events listens. */
static inline __attribute__((always_inline)) bool SPAN_COUNTED(void)
{
    return SPAN_ON(TRACE_CLASS_COUNTER);
}

/* Does the statement if anything listens to spans of the class. */
#define SPAN_OBSERVED(CLASS, statement)   \
    do {                                  \
        if (SPAN_ON(TRACE_CLASS_##CLASS)) \
            statement;                    \
    } while (0)

/* A span of the current thread outside of all others: an interrupt, an exception, an idle thread's sleep. */
#define SPAN_BEGIN(CLASS, kind, argument, log) SPAN_OBSERVED(CLASS, span_begun(kind, argument, log))
#define SPAN_END(CLASS, log)                   SPAN_OBSERVED(CLASS, span_ended(log))

/* `logged`: the log function's result. */
HOOK(span_begun, void, enum trace_routine_kind kind, uint64_t argument, uint64_t logged);
HOOK(span_ended, void, uint64_t logged);

/* Ends the span of a system call that blocks and will be repeated. */
HOOK(span_restart_syscall, void, struct thread *self);

/* Only behind SPAN_ON of their class. A fault from the kernel is a user copy's, in the call's window. */
struct fault_request;
HOOK(fault_begun, void, struct thread *self, const struct fault_request *request, uint64_t ip,
     bool from_kernel);
HOOK(fault_ended, void, struct thread *self, const struct fault_request *request, uint32_t kind,
     uint64_t since, bool from_kernel);
HOOK(exception_begun, void, struct thread *self, uint32_t vector, uint64_t code, uint64_t ip);
/* The fault's span ends when the thread runs again, unless nobody handles the fault. */
HOOK(fault_waits, void, struct thread *self);

/* Before a switch, behind SPAN_ON(TRACE_CLASS_SCHED): logs it, and returns the event's time, so that accounts
 * agree with the trace. This CPU logs nothing else until `current` has changed: a packet that began in
 * between would have a context that names `prev`. */
HOOK(trace_switch, uint64_t, struct cpu *cpu, const struct thread *prev, const struct thread *next);
/* A switch at cpu->switched_at, behind SPAN_COUNTED(). */
HOOK(count_switch, void, struct cpu *cpu, struct thread *prev, struct thread *next);
/* The thread runs again: ends the span in which it blocked (thread->traced). */
HOOK(thread_trace_resumed, void, struct thread *thread);

/* The idle loop is about to sleep, and has slept. */
HOOK(profile_sleep, void, void);
HOOK(profile_wake, void, void);
/* Closes the window of a handler that did not return (diagnosis/profile.h). Allowed without a window. */
HOOK(profile_close_window, void, void);
