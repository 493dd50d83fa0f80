/* SPDX-License-Identifier: BSD-2-Clause */
/* profiles_export.h - names of routines, and profiles for other tools: flame graphs, TAU. */
#ifndef TARN_COMMAND_PROFILES_EXPORT_H
#define TARN_COMMAND_PROFILES_EXPORT_H

#include <tools/tarn/tables/profiles.h>
#include <trace/print/routines.h>

/* Names of arguments are known if the guest has the schema of this program; otherwise they are numbers.
 * Functions of programs have names if their executables are found. */
struct profile_names {
    bool are_known;
    const struct trace_routine_names *routines; /* of programs */
    struct symbols *symbols;
};
/* PATH: where executables are searched, as for symbols_open(); NULL: only there where it always searches. */
void profile_names_open(struct profile_names *names, const struct profiles *profiles, const char *path);
void profile_names_close(struct profile_names *names);
/* Of a row without its context, which profile_context_name() names: "" for none. */
const char *profile_routine_name(const struct profile_names *names, uint64_t key,
                                 char name[TRACE_ROUTINE_NAME_BYTES]);
const char *profile_context_name(const struct profile_names *names, uint64_t key,
                                 char name[TRACE_ROUTINE_NAME_BYTES]);

/* Prints a line for each routine that took time itself: "process;parse;syscall space_map 120", in
 * microseconds. Time in which threads did not run is left out. */
void profiles_print_flame(const struct profiles *profiles, const struct profile_names *names);
/* Makes the directory if there is none, and writes a file for each profile. False: FAIL. */
bool profiles_write_tau(const struct profiles *profiles, const struct profile_names *names,
                        const char *directory, struct fail *fail);

#endif
