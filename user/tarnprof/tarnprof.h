/*
 * tarnprof.h - tables of routines, for programs: libtarnprof.
 *
 *     struct tarnprof table = {0};
 *     while (tarnprof_next(&table, TARNPROF_OWN) > 0)
 *         for (uint32_t i = 0; i < table.head->rows; i++)
 *             ... table.rows[i] ...
 *     tarnprof_free(&table);
 *
 * Tables exist while they are counted: boot option `trace.routines=on`, `trace routines on`. What a row is,
 * and what its times mean: trace/format/routine.h. A process may read its own without any right.
 *
 * No locks: a struct tarnprof belongs to the thread that uses it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tarn/abi.h>
#include <trace/format/routine.h>
#include <trace/print/routines.h>
#include <trace/ring/routine_copy.h>
#include <user/tarnprof/rows.h>

/* The tables of the own process; else a space, or the trace object: all. */
#define TARNPROF_OWN ((cap_t)0)

/* A copy of one table; zero at first. */
struct tarnprof {
    const struct trace_routines *head;
    const struct trace_routines_row *rows; /* head->rows of them */
    void *memory;                          /* the rest is the library's */
    uint64_t serial;
};

/* Copies the next table of `of`. 1: done; 0: there is none, so the next call begins with the first again;
 * else an error of the kernel, -E_NO_MEMORY for example. */
int tarnprof_next(struct tarnprof *table, cap_t of);
void tarnprof_free(struct tarnprof *table);

/* The row of a routine of the kernel, entered from the program's routine `context`; with
 * TRACE_ROUTINE_PROGRAM and argument 0, that of this routine. NULL: none. */
const struct trace_routines_row *tarnprof_find(const struct tarnprof *table, enum trace_routine_kind kind,
                                               uint64_t argument, uint32_t context);

/* The names of routines of programs; zero at first. tarnprof_read_names() returns 0 or an error of the
 * kernel. */
int tarnprof_read_names(struct trace_routine_names *names);
void tarnprof_free_names(struct trace_routine_names *names);
/* The number of a program's routine, of any program, with this name, or, if it is NULL, of that function; 0:
 * none. */
uint32_t tarnprof_find_name(const struct trace_routine_names *names, const char *name, const void *function);

/* Sums, over several tables; zero at first. */
struct tarnprof_sum {
    struct trace_rows rows; /* struct trace_routines_row */
    uint32_t threads;
    uint64_t life, refused;
};
/* Adds a table. False: no memory. */
bool tarnprof_add(struct tarnprof_sum *sum, const struct tarnprof *table);
/* Adds the tables of `of` that are of these kinds, 1 << enum trace_routines_of. 0, or an error. */
int tarnprof_add_all(struct tarnprof_sum *sum, cap_t of, uint32_t kinds);
void tarnprof_free_sum(struct tarnprof_sum *sum);
/* Prints whose time it was, and the routines sorted by column `by` (NULL: exclusive time), at most `lines` of
 * them. Sorts the sum's rows. False: there is no such column. */
bool tarnprof_show(FILE *file, struct tarnprof_sum *sum, uint32_t lines, const char *by);
/* The same of the calling process, ended threads included. */
void tarnprof_show_own(FILE *file);
