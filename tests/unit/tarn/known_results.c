/* SPDX-License-Identifier: BSD-2-Clause */
/* tests/unit/tarn/known_results.c - asks tarn about traces written by hand; see known_results.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tests/unit/scratch.h>
#include <tests/unit/tarn/known_results.h>

struct trace known_trace;
uint64_t tick_ns;
char known_directory[64];

void open_known(const char *text, const char *order)
{
    struct synthetic_options options = SYNTHETIC_DEFAULTS;
    struct fail fail = {""};

    options.order = order;
    options.directory = known_directory;
    options.freq = strcmp(order, "le") == 0 ? 1000000000 : 500000000;
    tick_ns = 1000000000 / options.freq;
    if (!trace_text_write(&options, text, &fail) || !trace_open(&known_trace, known_directory, &fail))
        bail_out(fail.text);
}

struct analysis *ask(const char *kind, const char *const *options, struct filter *filter, struct fail *fail)
{
    struct analysis *analysis = analysis_new(analysis_find(kind));
    bool ok = true;

    memset(filter, 0, sizeof(*filter));
    for (; *options != NULL; options += 2)
        if (strcmp(options[0], "+tid") == 0)
            filter->tids = options[1];
        else if (strcmp(options[0], "+process") == 0)
            filter->process = options[1];
        else if (strcmp(options[0], "+from") == 0)
            filter->from = options[1];
        else if (strcmp(options[0], "+to") == 0)
            filter->to = options[1];
        else if (strcmp(options[0], "+event") == 0)
            filter->events = options[1];
        else if (strcmp(options[0], "+subtract-cost") == 0)
            filter->subtract_cost = true;
        else if (strcmp(options[0], "+without-drain") == 0)
            filter->without_drain = true;
        else
            ok &= analysis_set(analysis, options[0], options[1], fail);
    ok = ok && analysis_choose_tables(analysis, "all", fail) && filter_resolve(filter, &known_trace, fail) &&
         analyses_ask(&analysis, 1, &known_trace, filter, NULL, NULL, fail);
    if (!ok) {
        analysis_free(analysis);
        analysis = NULL;
    }
    filter_free(filter);
    return analysis;
}

const struct table *find_table(const struct analysis *analysis, const char *key)
{
    for (unsigned i = 0; i < analysis->kind->table_count; i++)
        if (strcmp(analysis->tables[i].key, key) == 0)
            return &analysis->tables[i];
    return NULL;
}

static const struct table_row *find_row(const struct table *table, const char *name)
{
    const char *slash = strrchr(name, '/');
    size_t length = slash != NULL ? (size_t)(slash - name) : strlen(name);

    for (size_t i = 0; i < table->count; i++) {
        const struct table_row *row = table->rows[i];

        if (strlen(row->name) == length && memcmp(row->name, name, length) == 0 &&
            (slash == NULL || row->cells[0].count == strtoull(slash + 1, NULL, 0)))
            return row;
    }
    return NULL;
}

static double value_in(const struct analysis *analysis, const char *what, char text[200])
{
    char table_key[80], row_name[80], column_key[80];
    const struct table *table;
    const struct table_row *row;
    const struct table_column *column;
    int place;

    snprintf(text, 200, "?");
    if (sscanf(what, "%79s %79s %79s", table_key, row_name, column_key) != 3)
        return EXPECT_NO_ROW;
    for (char *at = row_name; *at != '\0'; at++)
        *at = *at == '~' ? ' ' : *at;
    table = find_table(analysis, table_key);
    row = table != NULL ? find_row(table, row_name) : NULL;
    place = table != NULL ? table_find_column(table, column_key) : -9;
    if (row == NULL || place < 0)
        return EXPECT_NO_ROW;
    column = &table->columns[place];
    if (!table_cell_is_known(column, row->cells[place]))
        return EXPECT_NONE;
    if (column->kind == COLUMN_TEXT)
        snprintf(text, 200, "%s", row->cells[place].text);
    if (column->kind == COLUMN_TIME || column->kind == COLUMN_WHEN)
        return (double)row->cells[place].count / (double)tick_ns;
    return column->kind == COLUMN_REAL     ? row->cells[place].real
           : column->kind == COLUMN_SIGNED ? (double)row->cells[place].number
                                           : (double)row->cells[place].count;
}

void expect(const char *kind, const char *const *options, const struct expected *expected)
{
    struct fail fail = {""};
    struct filter filter;
    struct analysis *analysis = ask(kind, options, &filter, &fail);
    char text[200];

    if (analysis == NULL) {
        check(false, "%s: %s", kind, fail.text);
        return;
    }
    for (; expected->what != NULL; expected++) {
        double value = value_in(analysis, expected->what, text);
        bool ok = value > expected->value - 0.006 && value < expected->value + 0.006;

        check(ok, "%s: %s is %g", kind, expected->what, expected->value);
        if (!ok)
            printf("# got %g\n", value);
    }
    analysis_free(analysis);
}

void expect_text(const char *kind, const char *const *options, const char *what, const char *expected)
{
    struct fail fail = {""};
    struct filter filter;
    struct analysis *analysis = ask(kind, options, &filter, &fail);
    char text[200] = "";

    if (analysis != NULL)
        value_in(analysis, what, text);
    check(analysis != NULL && strcmp(text, expected) == 0, "%s: %s is %s", kind, what, expected);
    if (strcmp(text, expected) != 0)
        printf("# got %s%s\n", text, fail.text);
    if (analysis != NULL)
        analysis_free(analysis);
}

int test_both_orders(void (*test)(const char *order))
{
    make_scratch();
    snprintf(known_directory, sizeof(known_directory), "%s/le", scratch);
    test("le");
    snprintf(known_directory, sizeof(known_directory), "%s/be", scratch);
    test("be");
    return finish_tests();
}
