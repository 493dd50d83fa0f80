/* SPDX-License-Identifier: BSD-2-Clause */
/* row_options.h - the options of subcommands that print rows counted in a guest: when they are read. */
#ifndef TARN_ROW_OPTIONS_H
#define TARN_ROW_OPTIONS_H

#include <tools/tarn/print/print_table.h>
#include <tools/tarn/source/source.h>

struct row_options {
    struct table_options output;
    uint64_t interval_ns; /* 0: none */
    double wait;          /* seconds to connect */
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

/* Takes a duration that is not 0 for the uint64_t of OPTION: nanoseconds. */
bool take_duration(void *context, const struct command_option *option, const char *value, struct fail *fail);

/* Sorts a table by the column chosen. False: FAIL, there is no such column. */
bool rows_sort(const struct table_options *options, struct table *table, struct fail *fail);
/* Waits until END (now_seconds()). A link gets a request now and then, so that the guest does not end it. */
bool rows_wait(struct source *source, double end, struct fail *fail);
/* That request. Needed at least every ROWS_SILENCE_SECONDS; guest memory needs none. False: FAIL. */
#define ROWS_SILENCE_SECONDS 10.0
bool rows_keep_link(struct source *source, struct fail *fail);

#endif
