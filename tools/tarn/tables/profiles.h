/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profiles.h - copies profiles of routines (trace/format/profile.h) from a guest, over a link.
 *
 * Everything that comes from the guest is checked: sizes, and that rows fit. Other values are only numbers.
 */
#ifndef TARN_TABLES_PROFILES_H
#define TARN_TABLES_PROFILES_H

#include <tools/tarn/source/source.h>
#include <trace/format/profile.h>
#include <trace/print/routines.h>

struct profile_copy {
    struct trace_profile head;
    struct trace_profile_row *rows; /* head.rows */
};

struct profiles {
    struct profile_copy *copies; /* in order of serial number */
    size_t count;
    struct trace_routine_names names; /* of routines of programs; allocated */
};

/* Copies all profiles; each is of one moment. False: FAIL, and nothing to free. */
bool profiles_read(struct profiles *profiles, struct source *source, struct fail *fail);
/* Subtracts what was there before. Least and greatest times stay those of the whole. */
void profiles_subtract(struct profiles *now, const struct profiles *before);
void profiles_free(struct profiles *profiles);

/* Time in which the thread did not run, or of a part of it. */
uint64_t profile_time_out(const struct profile_copy *copy);
/* The name of whose profile it is: "sh", "sh (ended threads)". */
#define PROFILE_NAME_BYTES 48
const char *profile_name(const struct trace_profile *head, char name[PROFILE_NAME_BYTES]);

#endif
