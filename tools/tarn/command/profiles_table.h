/* SPDX-License-Identifier: BSD-2-Clause */
/* profiles_table.h - the table that `tarn profiles` prints: routines of all profiles, or of each. */
#ifndef TARN_PROFILES_TABLE_H
#define TARN_PROFILES_TABLE_H

#include <tools/tarn/command/profiles_export.h>
#include <tools/tarn/command/row_options.h>

struct profiles_view {
    const struct row_options *rows;
    bool by_thread;      /* rows for each profile, instead of sums */
    double seconds;      /* between two moments; 0: there is one */
    uint64_t unfinished; /* rows that were being updated */
};

/* False: FAIL. */
bool profiles_print_table(const struct profiles_view *options, const struct profiles *profiles,
                          const struct profile_names *names, struct fail *fail);

#endif
