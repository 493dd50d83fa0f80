/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * routines.h - copies tables of routines (trace/format/routine.h) from a guest, from any source.
 *
 * Everything that comes from the guest is checked: sizes, and that rows fit. Other values are only numbers.
 */
#ifndef TARN_TABLES_ROUTINES_H
#define TARN_TABLES_ROUTINES_H

#include <tools/tarn/source/source.h>
#include <trace/format/routine.h>
#include <trace/print/routines.h>

struct routines_copy {
    struct trace_routines head;
    struct trace_routine_row *rows; /* head.rows */
};

struct routines {
    struct wire_hello hello;      /* where they were copied */
    uint64_t moment;              /* ticks when the first one was copied; 0: there is none */
    struct routines_copy *copies; /* in order of serial number */
    size_t count;
    uint64_t rows;                    /* of all of them, when they were read */
    struct trace_routine_names names; /* of routines of programs; allocated */
    struct routines_copy *gone;       /* routines_subtract(): to be subtracted from sums over all */
    size_t gone_count;
    bool is_cut; /* there were more, which could not be read */
    struct fail why;
};

/* Copies all tables of the source with that name, for which it waits WAIT seconds. Each is of one moment, but
 * for rows with more updates begun than ended. Tables before damage in guest memory are kept. False: FAIL,
 * and nothing to free. */
bool routines_read(struct routines *routines, const char *name, double wait, struct fail *fail);
uint64_t routines_unfinished(const struct routines *routines); /* rows that are not of one moment */
/* Reports missing and inexact counts on standard error. */
void routines_complain(const struct routines *routines);
/* Drops the tables of other processes; UINT64_MAX: of none. */
void routines_keep(struct routines *routines, uint64_t pid);
/* Subtracts BEFORE, and frees it. Least and greatest times stay those since counting began. A thread that
 * ended meanwhile is subtracted from its process's ended threads, or, if the process ended, too, is `gone`:
 * nobody knows which table got its times. False: FAIL, both are not of one boot. */
bool routines_subtract(struct routines *now, struct routines *before, struct fail *fail);
void routine_subtract_row(struct trace_routine_row *row, const struct trace_routine_row *old);
void routines_free(struct routines *routines);
/* ---- shared by routines.c and routines_memory.c ---- */
/* Take a table, whose rows are freed later, and the next name, in the byte order of SOURCE. False: FAIL. */
bool routines_append(struct routines *routines, const struct routines_copy *copy, struct fail *fail);
bool routines_append_name(struct routines *routines, const struct source *source,
                          const struct trace_routine *name, struct fail *fail);
/* The same from guest memory. False: FAIL; tables before damage have been appended. */
bool routines_read_memory(struct routines *routines, struct source *source, struct fail *fail);

/* For the user, if a source has none. */
#define ROUTINES_ARE_OFF "routines are not counted: `tarn ctl SOURCE routines on` counts them from then on"

/* The name of whose table it is: "sh", "sh (ended threads)". */
#define ROUTINES_NAME_BYTES 48
const char *routines_name(const struct trace_routines *head, char name[ROUTINES_NAME_BYTES]);

#endif
