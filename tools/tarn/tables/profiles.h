/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profiles.h - copies profiles of routines (trace/format/profile.h) from a guest, from any source.
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
    struct wire_hello hello;     /* where they were copied */
    uint64_t moment;             /* ticks when the first one was copied; 0: there is none */
    struct profile_copy *copies; /* in order of serial number */
    size_t count;
    uint64_t rows;                    /* of all of them, while they are read */
    struct trace_routine_names names; /* of routines of programs; allocated */
    struct profile_copy *gone;        /* profiles_subtract(): to be subtracted from sums over all */
    size_t gone_count;
    bool is_cut; /* there were more, which could not be read */
    struct fail why;
};

/* Copies all profiles. Each is of one moment, but for rows with more updates begun than ended. Profiles
 * before damage in guest memory are kept. False: FAIL, and nothing to free. */
bool profiles_read(struct profiles *profiles, struct source *source, struct fail *fail);
uint64_t profiles_unfinished(const struct profiles *profiles); /* rows that are not of one moment */
/* Reports what is missing or not exact on standard error. */
void profiles_complain(const struct profiles *profiles);
/* Drops the profiles of other processes; UINT64_MAX: of none. */
void profiles_keep(struct profiles *profiles, uint64_t pid);
/* Subtracts what was there before, and takes it. Least and greatest times stay those of the whole. What ended
 * meanwhile is subtracted from the ended threads of its process; if that has ended too, it is `gone`: the
 * profile that got its times cannot be told. False: FAIL, both are not of one boot. */
bool profiles_subtract(struct profiles *now, struct profiles *before, struct fail *fail);
void profile_subtract_row(struct trace_profile_row *row, const struct trace_profile_row *old);
void profiles_free(struct profiles *profiles);
/* For the user, if a source has none. */
#define PROFILES_ARE_OFF \
    "no profiles: they are off; `tarn ctl SOURCE profiles on` counts routines from then on"

/* Time in which the thread did not run, or of a part of it. */
uint64_t profile_time_out(const struct profile_copy *copy);
/* The name of whose profile it is: "sh", "sh (ended threads)". */
#define PROFILE_NAME_BYTES 48
const char *profile_name(const struct trace_profile *head, char name[PROFILE_NAME_BYTES]);

#endif
