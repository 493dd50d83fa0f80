/* SPDX-License-Identifier: BSD-2-Clause */
/* row_options.c - options of subcommands that print rows counted in a guest; see row_options.h. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <tools/tarn/command/row_options.h>
#include <tools/tarn/keep/amount.h>
#include <tools/tarn/print/print_table.h>

const struct command_option row_options[] = {
    {CALL("interval", "DURATION", take_duration,
          "show what was counted between now and DURATION (500ms, 5s) later\nRows that did not change are "
          "left "
          "out"),
     .place = offsetof(struct row_options, interval)},
    {REAL("wait", "SEC", struct row_options, wait, 0, 1e9, "keep trying to connect for SEC seconds (0)")},
    {.name = NULL}};

/* Columns are also found by their name in the schema, without the unit that JSON adds. */
static int find_column(const struct table *table, const char *called)
{
    char key[200];
    int column = table_find_column(table, called);

    snprintf(key, sizeof(key), "%.190s_ns", called);
    return column != TABLE_NO_COLUMN ? column : table_find_column(table, key);
}

bool rows_sort(const struct table_options *options, struct table *table, struct fail *fail)
{
    int column = options->sort != NULL ? find_column(table, options->sort) : table_order(table);

    if (options->sort != NULL && column == TABLE_NO_COLUMN)
        return fail_set(fail, "no column '%.60s' in table %s; --json shows their names", options->sort,
                        table->key);
    table_sort(table, column);
    if (options->reverse)
        table_reverse(table);
    return true;
}

void rows_wait(double end)
{
    const double left = end - now_seconds();

    if (left > 0)
        nanosleep(&(struct timespec){.tv_sec = (time_t)left, .tv_nsec = (long)(fmod(left, 1) * 1e9)}, NULL);
}
