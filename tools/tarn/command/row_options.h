/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * row_options.h - the options of subcommands that print rows counted in a guest: when they are read, and how
 * they are sorted and printed.
 *
 * A subcommand embeds struct row_options as the first member of its own options, so that its own formats
 * exclude those of the group (options.h).
 */
#ifndef TARN_ROW_OPTIONS_H
#define TARN_ROW_OPTIONS_H

#include <tools/tarn/options.h>
#include <tools/tarn/source/source.h>
#include <tools/tarn/table.h>

enum row_format {
    ROWS_AS_TEXT,
    ROWS_AS_JSON,
    ROWS_AS_CSV,
    ROWS_AS_OTHER /* first one of a subcommand's own */
};

struct row_options {
    const char *sort;
    unsigned format; /* enum row_format */
    bool reverse;
    uint64_t top;         /* UINT64_MAX: the default */
    uint64_t interval_ns; /* 0: none */
    double wait;          /* seconds to connect */
};

#define ROW_OPTIONS_DEFAULT \
    {                       \
        .top = UINT64_MAX   \
    }
#define ROW_OPTIONS_HEADING "Moments and output"

extern const struct command_option row_options[];

/* Takes a duration that is not 0 for the uint64_t of OPTION: nanoseconds. */
bool take_duration(void *context, const struct command_option *option, const char *value, struct fail *fail);

/* Prints the table in the format chosen: as text, a member of a JSON object, or CSV. */
void rows_print(const struct row_options *options, const struct table *table);
/* Sorts it by the column chosen. False: FAIL, there is no such column. */
bool rows_sort(const struct row_options *options, struct table *table, struct fail *fail);
/* Waits until END (now_seconds()). A link gets a request now and then, so that the guest does not end it. */
bool rows_wait(struct source *source, double end, struct fail *fail);
/* That request. Needed at least every ROWS_SILENCE_SECONDS; guest memory needs none. False: FAIL. */
#define ROWS_SILENCE_SECONDS 10.0
bool rows_keep_link(struct source *source, struct fail *fail);

#endif
