/* SPDX-License-Identifier: BSD-2-Clause */
/* row_options.h - the options of subcommands that print rows counted in a guest: when they are read. */
#ifndef TARN_ROW_OPTIONS_H
#define TARN_ROW_OPTIONS_H

#include <tools/tarn/print/print_table.h>
#include <tools/tarn/source/source.h>

struct row_options {
    struct table_options output;
    double interval;    /* seconds; 0: none */
    double wait;        /* seconds to connect */
    const char *source; /* its name */
};

#define ROWS_TOP 20u /* usually, in text */
#define ROW_OPTIONS_DEFAULT                   \
    {                                         \
        .output = {.top = TABLE_TOP_DEFAULT } \
    }
#define ROW_OPTIONS_GROUPS      \
    {"Moments", row_options},   \
    {                           \
        "Output", table_options \
    }

extern const struct command_option row_options[];

/* Sorts a table by the column chosen. False: FAIL, there is no such column. */
bool rows_sort(const struct table_options *options, struct table *table, struct fail *fail);
void rows_wait(double end); /* now_seconds() */

#endif
