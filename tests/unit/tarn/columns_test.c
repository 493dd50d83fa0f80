/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/tarn/columns_test.c - the columns of all tables of all analyses: each is called by its key, can
 * be found by what text shows above it, and has a sentence (columns.h); each sentence has a column.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <tests/tap.h>
#include <tools/tarn/analysis/columns.h>

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text);

    return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

static bool is_time(const struct table_column *column)
{
    return column->kind == COLUMN_TIME || column->kind == COLUMN_WHEN || column->kind == COLUMN_CHANGE;
}

/* What text shows: with the unit of a time. */
static void show_heading(const struct table_column *column, const char *unit, char shown[80])
{
    char text[HEADING_BYTES];

    snprintf(shown, 80, "%s%s", column_heading(column, text),
             is_time(column) && column->kind != COLUMN_WHEN ? unit : "");
}

static unsigned complain_of(const char *what, const char *analysis, const struct table *table,
                            const char *key)
{
    printf("# %s: %s.%s %s\n", what, analysis, table->key, key);
    return 1;
}

/* Each column is called by its key alone, and what text shows above it leads to it. */
static unsigned check_names(const char *analysis, const struct table *table)
{
    static const char *const units[] = {" us", " ms", " s"};
    unsigned wrong = 0;

    for (unsigned c = 0; c < table->column_count; c++) {
        const struct table_column *column = &table->columns[c];
        char shown[80];

        if (column->kind == COLUMN_BAR)
            continue;
        if (column->heading != NULL && column->heading[0] != '\0')
            wrong += complain_of("has a heading of its own", analysis, table, column->key);
        if (is_time(column) != ends_with(column->key, "_ns"))
            wrong += complain_of("is a time, or called so", analysis, table, column->key);
        if (table_find_column(table, column->key) != (int)c)
            wrong += complain_of("is not found by its key", analysis, table, column->key);
        for (unsigned u = 0; u < 3 && column->heading == NULL; u++) {
            show_heading(column, units[u], shown);
            if (table_find_column(table, shown) != (int)c)
                wrong += complain_of("is not found by its heading", analysis, table, shown);
            if (strcmp(shown, table->heading) == 0)
                wrong += complain_of("is called as the names are", analysis, table, shown);
        }
    }
    if (table->text[0] == '\0')
        wrong += complain_of("has no description", analysis, table, "");
    if (table->order != TABLE_AS_FILLED && table_order(table) == TABLE_NO_COLUMN)
        wrong += complain_of("has no column to be sorted by:", analysis, table, table->order);
    if (table_find_column(table, table->heading) != TABLE_BY_NAME)
        wrong += complain_of("names are not found by their heading", analysis, table, table->heading);
    return wrong;
}

static unsigned check_texts(const struct analysis_kind *kind, const struct table *table)
{
    unsigned wrong = 0;

    for (unsigned c = 0; c < table->column_count; c++)
        if (table->columns[c].kind != COLUMN_BAR && column_text(kind, table, table->columns[c].key) == NULL)
            wrong += complain_of("has no sentence", kind->name, table, table->columns[c].key);
    return wrong;
}

/* Whether a column of TABLE has this sentence. */
static bool uses(const struct analysis_kind *kind, const struct table *table, const struct column_text *text)
{
    for (unsigned c = 0; c < table->column_count; c++) {
        const struct column_text *found = column_text(kind, table, table->columns[c].key);

        if (found != NULL && strcmp(found->key, text->key) == 0 && strcmp(found->text, text->text) == 0)
            return true;
    }
    return false;
}

/* Those that analyses share are of one of them. */
static bool is_used(const struct column_text *text)
{
    for (unsigned k = 0; analysis_list()[k] != NULL; k++) {
        const struct analysis_kind *kind = analysis_list()[k];

        if (kind->totals != NULL && uses(kind, kind->totals, text))
            return true;
        for (unsigned t = 0; t < kind->table_count; t++)
            if (uses(kind, &kind->tables[t], text))
                return true;
    }
    return false;
}

static void test_columns(void)
{
    unsigned wrong_names = 0, wrong_texts = 0, unused = 0, malformed = 0, tables = 0;

    for (unsigned k = 0; analysis_list()[k] != NULL; k++) {
        const struct analysis_kind *kind = analysis_list()[k];

        if (kind->totals != NULL)
            wrong_texts += check_texts(kind, kind->totals);
        for (unsigned t = 0; t < kind->table_count; t++, tables++) {
            wrong_names += check_names(kind->name, &kind->tables[t]);
            wrong_texts += check_texts(kind, &kind->tables[t]);
        }
        for (unsigned i = 0; i < kind->text_count; i++) {
            const struct column_text *text = &kind->texts[i];
            bool is_ok = text->text[0] != '\0' && !isupper((unsigned char)text->text[0]) &&
                         !ends_with(text->text, ".");

            if (!is_ok || !is_used(text))
                printf("# %s: %s: %s\n", kind->name, text->key, text->text);
            malformed += !is_ok;
            unused += !is_used(text);
        }
    }
    check(tables > 90 && wrong_names == 0, "each of %u tables finds its columns by key and heading", tables);
    check(wrong_texts == 0, "each column has a sentence");
    check(unused == 0, "each sentence has a column");
    check(malformed == 0, "sentences have the same form");
}

static void test_headings(void)
{
    static const struct table_column columns[] = {TIME_COLUMN("waited_ns"),
                                                  COUNT_COLUMN("waited"),
                                                  MEAN_COLUMN("busy_percent", 1),
                                                  WHEN_COLUMN("at_ns"),
                                                  REAL_COLUMN("percent", 2),
                                                  REAL_COLUMN("events_per_second", 0),
                                                  BAR_COLUMN,
                                                  TIME_COLUMN("run_mean_ns"),
                                                  MEAN_COLUMN("percent_up_to", 2)};
    static const struct {
        const char *called;
        int place;
    } found[] = {{"waited_ns", 0},
                 {"waited us", 0},
                 {"waited ms", 0},
                 {"waited s", 0},
                 {"waited", 1},
                 {"busy %", 2},
                 {"at s", 3},
                 {"at", 3},
                 {"%", 4},
                 {"events/s", 5},
                 {"run mean ms", 7},
                 {"run mean", 7},
                 {"% up to", 8},
                 {"thread", TABLE_BY_NAME},
                 {"name", TABLE_BY_NAME},
                 {"", TABLE_NO_COLUMN},
                 {"at ms", TABLE_NO_COLUMN},
                 {"waited min", TABLE_NO_COLUMN},
                 {"run", TABLE_NO_COLUMN}};
    struct table table = TABLE("t", "thread", "threads", columns, TABLE_AS_FILLED);
    unsigned wrong = 0;

    for (unsigned i = 0; i < sizeof(found) / sizeof(found[0]); i++)
        if (table_find_column(&table, found[i].called) != found[i].place) {
            printf("# '%s' is found at %d\n", found[i].called, table_find_column(&table, found[i].called));
            wrong++;
        }
    check(wrong == 0, "columns are found by key, heading and alias");
}

int main(void)
{
    test_columns();
    test_headings();
    return finish_tests();
}
