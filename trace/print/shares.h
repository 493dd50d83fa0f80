/*
 * trace/print/shares.h - how each process spent its time, from tables of routines
 * (trace/format/routine.h): for `top` in the guest, and `tarn top`.
 *
 * A process's shares are the sums over its threads, ended ones included. They are disjoint, and add up to the
 * threads' lives.
 */
#pragma once

#include <stdbool.h>
#include <trace/format/routine.h>

/* Ticks in each of these. The first ones, up to TRACE_SHARE_READY, are time on CPUs. */
enum trace_share {
    TRACE_SHARE_PROGRAM,    /* outside of the kernel */
    TRACE_SHARE_SYSCALLS,   /* system calls but for calls */
    TRACE_SHARE_CALLS,      /* IPC calls, while the thread runs */
    TRACE_SHARE_FAULTS,     /* page faults and exceptions */
    TRACE_SHARE_INTERRUPTS, /* that came while it ran */
    TRACE_SHARE_IDLE,       /* of idle threads: the CPU sleeps */
    TRACE_SHARE_OTHERS,     /* routines without a row of their own */
    TRACE_SHARE_READY,      /* waits for a CPU */
    TRACE_SHARE_SEND,       /* waits, as `tarn threads` names them */
    TRACE_SHARE_RECEIVE,
    TRACE_SHARE_REPLY,
    TRACE_SHARE_NOTIFICATION,
    TRACE_SHARE_FUTEX,
    TRACE_SHARE_SLEEP,
    TRACE_SHARE_FAULT,
    TRACE_SHARE_SUSPENDED,
    TRACE_SHARE_AWAY, /* of idle threads: other threads run */
    TRACE_SHARES
};

/* Columns: "syscalls", "reply". */
extern const char *const trace_share_names[TRACE_SHARES];

struct trace_process_shares {
    uint32_t pid; /* 0: the idle threads */
    uint32_t threads;
    char name[16];     /* NUL padded */
    uint64_t until;    /* mean moment of its threads' tables, which are copied one after another */
    uint64_t interval; /* after trace_shares_subtract(): ticks between its moments; 0: unknown */
    uint64_t ticks[TRACE_SHARES];
};

/* Adds the table of a thread, or of ended threads, to its process. False: it is another table. */
bool trace_shares_add(struct trace_process_shares *process, const struct trace_routines *head,
                      const struct trace_routines_row *rows);
/* Whether a table belongs to a process that exists. */
static inline bool trace_shares_are_of_process(const struct trace_routines *head)
{
    return head->of == TRACE_ROUTINES_THREAD || head->of == TRACE_ROUTINES_ENDED;
}
uint64_t trace_shares_running(const struct trace_process_shares *process);
/* Subtracts the shares of an earlier moment, unless counting has begun anew. */
void trace_shares_subtract(struct trace_process_shares *now, const struct trace_process_shares *before);
