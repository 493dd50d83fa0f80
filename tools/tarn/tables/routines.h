/*
 * routines.h - copies tables of routines (trace/format/routine.h) from a guest, from any source.
 *
 * Everything that comes from the guest is checked: sizes, and that rows fit. Other values are only numbers.
 */
#pragma once

#include <tools/tarn/source/source.h>
#include <trace/format/routine.h>
#include <trace/print/routines.h>

struct routines_copy {
    struct trace_routines head;
    struct trace_routines_row *rows; /* head.rows */
};

struct routines {
    struct wire_hello hello;      /* where they were copied */
    uint64_t moment;              /* ticks when the first one was copied; 0: there is none */
    struct routines_copy *copies; /* in order of serial number */
    size_t count;
    uint64_t rows;                    /* of all of them, when they were read */
    struct trace_routine_names names; /* of routines of programs; allocated */
};

/* Copies all tables. Each is of one moment, but for rows with more updates begun than ended. Tables before
 * damage in guest memory are kept, and the damage reported. False: FAIL, and nothing to free. */
bool routines_read(struct routines *routines, struct source *source, struct fail *fail);
/* Drops the tables of other processes; UINT64_MAX: of none. */
void routines_keep(struct routines *routines, uint64_t pid);
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
