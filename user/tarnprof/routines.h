/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * routines.h - profiles of a program's own routines, merged with the kernel's: libtarnprof.
 *
 *     void parse(void)
 *     {
 *         TARNPROF_ROUTINE("parse");     until the end of the block
 *         ...
 *     }
 *
 * Or compile with -finstrument-functions: then each function is a
 * routine. A thread writes the number of the routine that it is in where the kernel finds it
 * (profile_context), so the kernel's rows say in which routine of the program it was entered.
 *
 * Times of routines are of the clock: what the kernel did in them, and what the thread waited, is in their
 * raw time. The kernel's rows of the same context say how much that was; the rest is the routine's own time.
 *
 * Each thread has rows of its own, so it needs no lock. At its end they are added to those of its process.
 * With TARNPROF=1 in the environment, a program prints them when it exits.
 */
#ifndef TARNPROF_ROUTINES_H
#define TARNPROF_ROUTINES_H

#include <stdbool.h>
#include <stdint.h>
#include <trace/format/profile.h>

/* A routine. Static, zero but for the name or the function. */
struct tarnprof_routine {
    const char *name;     /* NULL: a function */
    const void *function; /* address, if there is no name */
    uint32_t number;      /* its context; 0: none yet */
    struct tarnprof_routine *next;
};

/* The thread enters or leaves a routine. A routine that finds no number, or is nested too deep, counts as
 * part of what it is in. */
void tarnprof_enter(struct tarnprof_routine *routine);
void tarnprof_leave(void);

static inline void tarnprof_leave_scope(const int *unused)
{
    (void)unused;
    tarnprof_leave();
}

#define TARNPROF_JOIN_(a, b) a##b
#define TARNPROF_JOIN(a, b)  TARNPROF_JOIN_(a, b)
/* Counts from here to the end of the block. */
#define TARNPROF_ROUTINE(text)                                                                             \
    static struct tarnprof_routine TARNPROF_JOIN(tarnprof_routine_, __LINE__) = {.name = (text)};          \
    const int TARNPROF_JOIN(tarnprof_scope_, __LINE__) __attribute__((cleanup(tarnprof_leave_scope))) = 0; \
    (void)TARNPROF_JOIN(tarnprof_scope_, __LINE__);                                                        \
    tarnprof_enter(&TARNPROF_JOIN(tarnprof_routine_, __LINE__))

/* What is known of a routine: of the calling thread and of those that have ended. */
struct tarnprof_times {
    const struct tarnprof_routine *routine;
    uint64_t times;           /* how often it ended */
    uint64_t inclusive;       /* of its outermost calls */
    uint64_t raw;             /* in it and not in routines that it called */
    uint64_t least, greatest; /* inclusive */
    uint64_t histogram[TRACE_PROFILE_BUCKETS];
    uint64_t kernel, out; /* exclusive times of the kernel's rows of this context: running, and not running */
};
/* The routine with that number, or the first one behind it. False: no more. */
bool tarnprof_times(uint32_t number, struct tarnprof_times *times);
/* Prints routines of program and kernel, merged, on standard error. */
void tarnprof_show_merged(void);

#endif
