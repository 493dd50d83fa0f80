/* SPDX-License-Identifier: BSD-2-Clause */
/* routines.h - names of routines, and files for TAU, of `tarn routines`. */
#ifndef TARN_COMMAND_ROUTINES_H
#define TARN_COMMAND_ROUTINES_H

#include <tools/tarn/command/row_options.h>
#include <tools/tarn/tables/routines.h>
#include <trace/print/routines.h>

/* Names of arguments are known if the guest has the schema of this program; otherwise they are numbers.
 * Functions of programs have names if their executables are found. */
struct routine_names {
    bool are_known;
    const struct trace_routine_names *routines; /* of programs */
    struct symbols *symbols;
};
/* PATH: where executables are searched, as for symbols_open(); NULL: only in its default places. */
void routines_names_open(struct routine_names *names, const struct routines *routines, const char *path);
void routines_names_close(struct routine_names *names);
/* The name of a row, without its context; row_context_name() returns that, "" for none. */
const char *row_routine_name(const struct routine_names *names, uint64_t key,
                             char name[TRACE_ROUTINE_NAME_BYTES]);
const char *row_context_name(const struct routine_names *names, uint64_t key,
                             char name[TRACE_ROUTINE_NAME_BYTES]);

/* Makes the directory if there is none, and writes a file for each table. False: FAIL. */
bool routines_write_tau(const struct routines *routines, const struct routine_names *names,
                        const char *directory, struct fail *fail);

#endif
