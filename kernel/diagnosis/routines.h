/*
 * routines.h - tables of routines: how often, and how long, each thread was inside each pair of begin and
 * end. Rows and times: trace/format/routine.h and FORMAT.md, "Routines". (profile.h is the sampling
 * profiler.)
 *
 * While routines are counted, span.c calls routine_begin() and routine_end() with the time that the event
 * got. Routines nest. The thread holds those that have begun; a row is updated at the end of its routine. A
 * thread that does not run is inside the routine TRACE_ROUTINE_OUT, so all times are of one clock, and
 * exclusive times add up to the thread's life whatever it did.
 *
 * One writer: a thread's open routines, and its rows, belong to the CPU on which the thread is current. The
 * kernel is not preempted, so nothing is atomic. Readers copy a row between `ended` and `begun`
 * (routines_read.c).
 *
 * A thread's table is made when it first runs while routines are counted, and reset when they are switched on
 * again. Nothing is open in it then: earlier routines are ignored, because sites are switched one by one, so
 * begins or ends may be missing. At the thread's end its rows are added to its process's, at the process's
 * end to its creator's (routines.c). A table without space for another row counts in the row
 * TRACE_ROUTINE_OTHERS.
 *
 * Programs count their own routines in page frames that they share with the kernel (routines_program.c).
 *
 * Off, the sites are off (trace/sites.c): ROUTINES_ON() is one instruction. Places that others observe, too,
 * are spans (kernel/cpu/span.h).
 */
#pragma once

#include <arch/clock.h>
#include <arch/cpu.h>
#include <arch/trace.h>
#include <kernel/trace/control.h>
#include <stdbool.h>
#include <stdint.h>
#include <trace/format/routine.h>
#include <trace/ring/ring.h>

#define ROUTINES_CACHE 64u

/* The part that routine_end() uses. Only the thread's CPU. */
struct routine_rows {
    struct trace_routines_row *cache[ROUTINES_CACHE]; /* by routine_slot(): rows used last; never NULL */
    /* Of the program's routines: a kernel address; the program writes there, too. */
    struct trace_program_clock *program;
};

/* The switch; the sites follow it (trace/control.h). */
extern bool routines_on;

#ifdef TRACE_TESTED
static inline bool ROUTINES_ON(void)
{
    return routines_on;
}
#else
static inline __attribute__((always_inline)) bool ROUTINES_ON(void)
{
    return arch_trace_site(TRACE_ID(0, TRACE_SITE_ROUTINES));
}
#endif

static inline uint32_t routine_slot(uint64_t key)
{
    return (uint32_t)key * 0x9e3779b1u >> 26;
}
_Static_assert(ROUTINES_CACHE == 1u << (32 - 26), "routine_slot()");

/* Slow path of an update: the row is not cached, the time is a new maximum, or the routine is older than the
 * table and is ignored. */
void routines_update_slowly(struct thread *thread, struct routine_rows *rows, uint64_t key, uint64_t since,
                            uint64_t elapsed, uint64_t own);

/* Nesting depth of the next routine. Below OPEN_ROUTINES_MAX even if routines are ignored. */
static inline uint32_t routine_depth(const struct open_routines *routines)
{
    return routines->depth % OPEN_ROUTINES_MAX;
}

/* Begins a routine in the thread, which is current; `depth` others are open: 0, or routine_depth(). */
static inline __attribute__((always_inline)) void routine_begin(struct open_routines *routines,
                                                                uint32_t depth, uint64_t key, uint64_t now)
{
    struct open_routine *open = &routines->at[depth];
    open->since = now;
    open->nested = 0;
    open->key = key;
    routines->depth = depth + 1;
}

/* Counts a routine that began at `since`. It took `elapsed` ticks, of which it spent `own` outside of nested
 * routines. `key`: without context. */
static inline __attribute__((always_inline)) void routine_count(struct thread *thread,
                                                                struct routine_rows *rows, uint64_t key,
                                                                uint64_t since, uint64_t elapsed,
                                                                uint64_t own)
{
    key |= rows->program->context << TRACE_ROUTINES_CONTEXT_SHIFT;
    struct trace_routines_row *row = rows->cache[routine_slot(key)];
    if (__builtin_expect(row->routine != key, 0) || __builtin_expect(elapsed > row->limit, 0)) {
        routines_update_slowly(thread, rows, key, since, elapsed, own);
        return;
    }
    row->begun++;
    /* a reader that sees a change sees that it has begun; pairs with the fence in copy_row() */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    row->total += elapsed;
    row->own += own;
    if (elapsed < row->min)
        row->min = elapsed;
    row->times[(uint32_t)(63 ^ __builtin_clzll(elapsed | 1))]++;
    /* a reader that sees the count sees the whole update; pairs with the load in copy_row() */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    row->ended++;
}

/* Ends the innermost routine, at this depth. */
static inline __attribute__((always_inline)) void routine_end(struct thread *thread,
                                                              struct routine_rows *rows,
                                                              struct open_routines *routines, uint32_t depth,
                                                              uint64_t now)
{
    struct open_routine *open = &routines->at[depth];
    const uint64_t since = open->since, elapsed = now - since;
    routines->depth = depth;
    if (depth)
        open[-1].nested += elapsed;
    else
        rows->program->kernel += elapsed;
    routine_count(thread, rows, open->key, since, elapsed, elapsed - open->nested);
}

/* routines.c */
void routines_boot(void); /* on the boot CPU, when it has its idle thread */
void routines_init_cpu(struct cpu *cpu);
/* Switches counting on, to another level, which resets all tables, or off. Hold no locks: it interrupts all
 * CPUs. */
void routines_switch(enum routines_level level);
/* Readers of guest memory cannot read the clock: says how late it is, a few times a second and in a panic. */
void routines_beat(uint64_t now);

/* The steps below are behind ROUTINES_ON(). */
/* Begins a routine of the current thread in which nothing, or in `from_kernel` a system call, is open. */
void routines_begin(struct thread *self, bool from_kernel, enum trace_routine_kind kind, uint64_t argument,
                    uint64_t now);
void routines_end(struct thread *self, uint64_t now);
/* Ends a routine whose kind is known only now. */
void routines_end_as(struct thread *self, enum trace_routine_kind kind, uint64_t argument, uint64_t now);

/* The time of the event just logged, so that accounts and trace agree; now if the event is off. `logged`: the
 * log function's result. */
static inline uint64_t routines_time(uint64_t logged)
{
    const uint64_t now = arch_clock();
    return logged == TRACE_NOT_LOGGED ? now : now - (uint32_t)(now - logged);
}

/* A system call that is traced, too. */
void routines_enter_syscall(struct thread *self, uint32_t number, uint64_t now);
/* `waited`: it blocked, and the thread runs again. */
void routines_leave_syscall(struct thread *thread, uint32_t number, int64_t result, bool waited,
                            uint64_t now);
/* At cpu->switched_at. */
void routines_switched(struct cpu *cpu, struct thread *prev, struct thread *next);
/* The thread runs again, so the fault or exception that it waited in ends; `counted`: TRACED_FAULT. */
void routines_resume_fault(struct thread *thread, bool counted, uint64_t now);
