/*
 * tarn/routine.h - counts routines of the program in the calling thread's table (trace/format/routine.h);
 * libc-glue/tarn/routine.c. For programs, libtarnprof has a macro for it (user/tarnprof/routines.h).
 *
 *     if (routines_are_counted())
 *         routine_enter(number);
 *     ...
 *     if (routines_are_counted())
 *         routine_leave();
 *
 * Nothing here allocates memory or takes a lock, so it may be called anywhere, also in malloc. Tables may
 * be switched between the two; a leave without an enter does nothing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <trace/event/routines.h>
#include <trace/format/routine.h>

/* The thread enters the routine with this number, a context. 0, or one that finds no memory, counts as
 * part of its caller, and as refused. */
void routine_enter(uint32_t context);
void routine_leave(void);
/* Whether what routine_number() returned still holds for the calling thread. */
bool routine_number_holds(uint64_t number);
/* The number for a name, or, without one, of a function's address; `known`: what the last call returned for
 * it, or 0. Returns the number, and from bit 12 on for which epoch of tables it holds; 0: none. */
uint64_t routine_number(uint64_t known, const char *name, const void *function);
