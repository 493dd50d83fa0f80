/* SPDX-License-Identifier: BSD-2-Clause */
/* profiles_export.h - names of routines, and profiles for other tools: flame graphs, TAU. */
#ifndef TARN_COMMAND_PROFILES_EXPORT_H
#define TARN_COMMAND_PROFILES_EXPORT_H

#include <tools/tarn/tables/profiles.h>
#include <trace/print/routines.h>

/* Names of arguments are known if the guest has the schema of this program; otherwise they are numbers. */
struct profile_names {
    bool are_known;
};
void profile_names_open(struct profile_names *names, const struct profiles *profiles);
const char *profile_routine_name(const struct profile_names *names, uint64_t key,
                                 char name[TRACE_ROUTINE_NAME_BYTES]);

/* Prints a line for each routine that took time itself: "process;routine 3;syscall space_map 120", in
 * microseconds. Time in which threads did not run is left out. */
void profiles_print_flame(const struct profiles *profiles, const struct profile_names *names);
/* Makes the directory if there is none, and writes a file for each profile. False: FAIL. */
bool profiles_write_tau(const struct profiles *profiles, const struct profile_names *names,
                        const char *directory, struct fail *fail);

#endif
