/*
 * routines.h - tables of a program's own routines, merged with the kernel's: libtarnprof.
 *
 *     void parse(void)
 *     {
 *         TARNPROF_ROUTINE("parse");     until the end of the block
 *         ...
 *     }
 *
 * Or compile with -finstrument-functions: then each function is a routine.
 *
 * While routines are counted, each thread has a row for each routine in its table, beside the kernel's rows,
 * which say in which routine of the program they were entered. Everybody who may read the table sees them,
 * with their names: routines_name gives them numbers that are the same in the whole system. Off, a routine
 * costs two calls of a function that returns at once.
 *
 * With TARNPROF=1 in the environment, a program prints its table when it exits.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <trace/format/routine.h>

/* A routine. Static, zero but for the name or the function. */
struct tarnprof_routine {
    const char *name;     /* NULL: a function. The first 47 bytes count */
    const void *function; /* address, if there is no name */
    uint64_t number;      /* the library's: routine_number() of tarn/routine.h */
};

/* The thread enters or leaves a routine. A routine that finds no number, or is nested too deep, counts as
 * part of its caller. */
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
