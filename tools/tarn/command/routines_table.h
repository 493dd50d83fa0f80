/* SPDX-License-Identifier: BSD-2-Clause */
/* routines_table.h - the table that `tarn routines` prints: routines of all tables, or of each. */
#ifndef TARN_ROUTINES_TABLE_H
#define TARN_ROUTINES_TABLE_H

#include <tools/tarn/command/routines_export.h>
#include <tools/tarn/command/row_options.h>

struct routines_view {
    const struct table_options *output;
    bool by_thread;      /* rows for each table, instead of sums */
    double seconds;      /* between two moments; 0: there is one */
    uint64_t unfinished; /* rows that were being updated */
};

/* False: FAIL. */
bool routines_print_table(const struct routines_view *options, const struct routines *routines,
                          const struct routine_names *names, struct fail *fail);

#endif
