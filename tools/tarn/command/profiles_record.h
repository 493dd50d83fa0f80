/* SPDX-License-Identifier: BSD-2-Clause */
/* profiles_record.h - writes files of profiles for `tarn profiles`: snapshots of a source. */
#ifndef TARN_PROFILES_RECORD_H
#define TARN_PROFILES_RECORD_H

#include <tools/tarn/tables/profiles_file.h>

struct profiles_record {
    const char *path;     /* of the file */
    uint64_t count;       /* of snapshots; 0: until it is ended */
    uint64_t interval_ns; /* of a source: between two; 0: one snapshot */
    uint64_t pid;         /* only of this process; UINT64_MAX: all */
};

/* Drops the profiles of other processes. */
void profiles_keep(struct profiles *profiles, uint64_t pid);
/* Reports what is missing or not exact on standard error. */
void profiles_complain(const struct profiles *profiles);
/* Copies snapshots of SOURCE to the file. False: FAIL; the file has the snapshots before. */
bool profiles_record(const struct profiles_record *record, struct source *source, struct fail *fail);

#endif
