/* SPDX-License-Identifier: BSD-2-Clause */
/* compare.c - what changed between two tables; see compare.h. */
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/analysis/compare.h>
#include <tools/tarn/analysis/t_test.h>

#define NAME_BYTES  512u
#define CHANCE_MAX  0.05
#define SIGNIFICANT "significant"

const char *compare_refuses(const struct table *table)
{
    if (table->columns == histogram_columns)
        return "ranges that differ";
    for (unsigned i = 0; i < table->column_count; i++) {
        if (strcmp(table->columns[i].key, "at_ns") == 0 || strcmp(table->columns[i].key, "after_ns") == 0)
            return "single events";
        if (table->columns[i].kind == COLUMN_HEX)
            return "addresses";
    }
    return compare_column(table) < 0 ? "nothing to compare" : NULL;
}

bool compare_wants(const struct table_column *column)
{
    return column->kind == COLUMN_COUNT || column->kind == COLUMN_TIME || column->kind == COLUMN_REAL;
}

/* Returns the first of these columns that the table has. */
static int find_one_of(const struct table *table, const char *const keys[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int column = table_find_column(table, keys[i]);

        if (column >= 0)
            return column;
    }
    return -1;
}

/* The first of these that a table has contains its whole CPU time. */
static const char *const processor_keys[] = {"ran_ns", "running_ns", "self_ns", "time_ns"};
static const char *const part_keys[] = {"user_ns", "posix_ns", "syscalls_ns", "faults_ns", "interrupts_ns"};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

int compare_processor_column(const struct table *table)
{
    return find_one_of(table, processor_keys, COUNT_OF(processor_keys));
}

int compare_column(const struct table *table)
{
    int order = table_order(table), mean = -1;

    if (order >= 0 && compare_wants(&table->columns[order]))
        return order;
    if (table->is_whole) /* the order of rows is fixed: the same work done in different ways */
        mean = table_find_column(table, "mean_ns");
    for (unsigned i = 0; i < table->column_count && mean < 0; i++)
        if (compare_wants(&table->columns[i]) && table->columns[i].sum == SUM_ADDED)
            return (int)i;
    return mean < 0 ? -1 : mean;
}

bool compare_usually(const struct table *table, unsigned column)
{
    int processor = compare_processor_column(table);

    if (processor >= 0)
        return (int)column == processor;
    if (table_find_column(table, "wall_ns") < 0)
        return (int)column == compare_column(table);
    for (size_t i = 0; i < COUNT_OF(part_keys); i++)
        if (strcmp(table->columns[column].key, part_keys[i]) == 0)
            return true;
    return false;
}

bool compare_is_of_processor(const char *column_key)
{
    for (size_t i = 0; i < COUNT_OF(processor_keys); i++)
        if (strcmp(column_key, processor_keys[i]) == 0)
            return true;
    return false;
}

int compare_work(const struct table *table, unsigned column)
{
    static const char *const keys[] = {"processes", "calls", "faults",  "contentions", "taken",
                                       "count",     "times", "wakeups", "waits",       "stretches"};
    bool is_processor_time = (int)column == compare_processor_column(table);
    /* CPU time is divided by the first two kinds only. */
    int work = find_one_of(table, keys, is_processor_time ? 2 : sizeof(keys) / sizeof(keys[0]));

    if (table_find_column(table, "samples") >= 0 || table->columns[column].kind != COLUMN_TIME)
        return COMPARE_BY_UNIT; /* rows are missing without samples; and counts are work themselves */
    if (work >= 0)
        return work;
    return table_find_column(table, "pid") >= 0 ? COMPARE_BY_ROWS : COMPARE_BY_UNIT;
}

/* ---- the columns ---- */

static bool is_share(const struct table_column *column)
{
    return column->kind == COLUMN_REAL &&
           (strstr(column->key, "percent") != NULL || strstr(column->key, "per_second") != NULL);
}

static bool adds_up(const struct table_column *column)
{
    return column->sum == SUM_ADDED && !is_share(column);
}

/* Times are in nanoseconds. With one run on each side, there are no columns about noise. */
static void make_columns(struct table *result, const struct comparison *comparison,
                         const struct table_column *column)
{
    struct table_column *columns = arena_alloc(&result->arena, COMPARE_COLUMNS * sizeof(columns[0]));
    bool is_time = column->kind == COLUMN_TIME;
    bool has_spread = comparison->runs[0] > 1 || comparison->runs[1] > 1;
    enum column_kind kind = is_time ? COLUMN_TIME : COLUMN_REAL,
                     change = is_time ? COLUMN_CHANGE : COLUMN_REAL;
    enum column_sum sum =
        column->sum == SUM_ADDED && comparison->work == COMPARE_BY_UNIT ? SUM_ADDED : SUM_NOTHING;

    columns[COMPARE_A] = (struct table_column)COLUMN_CALLED("A", is_time ? "a_ns" : "a", kind, sum, 2);
    columns[COMPARE_B] = (struct table_column)COLUMN_CALLED("B", is_time ? "b_ns" : "b", kind, sum, 2);
    columns[COMPARE_CHANGE] =
        (struct table_column)COLUMN_AS(is_time ? "change_ns" : "change", change, sum, 2);
    columns[COMPARE_RATIO] = (struct table_column)MEAN_COLUMN("ratio", 2);
    columns[COMPARE_SPREAD_A] = (struct table_column)COLUMN_CALLED(
        has_spread ? "spread A %" : "", "spread_a_percent", COLUMN_REAL, SUM_NOTHING, 1);
    columns[COMPARE_SPREAD_B] = (struct table_column)COLUMN_CALLED(
        has_spread ? "spread B %" : "", "spread_b_percent", COLUMN_REAL, SUM_NOTHING, 1);
    columns[COMPARE_CHANCE] = (struct table_column)COLUMN_CALLED("", "chance", COLUMN_REAL, SUM_NOTHING, 6);
    columns[COMPARE_VERDICT] =
        (struct table_column)COLUMN_CALLED(has_spread ? NULL : "", "verdict", COLUMN_TEXT, SUM_NOTHING, 0);
    result->columns = columns;
    result->column_count = COMPARE_COLUMNS;
}

/* A divisor "calls" is named "call". */
static void name_result(const struct comparison *comparison, const struct table_column *column,
                        const char *key, struct table *result)
{
    const struct table *table = comparison->tables[0][0];
    char text[HEADING_BYTES];
    const char *heading = column_heading(column, text);
    const char *counts = comparison->work >= 0 ? table->columns[comparison->work].key : table->others;

    result->key = table_format(result, "%s.%s", key, column->key);
    if (comparison->work == COMPARE_BY_UNIT || !adds_up(column))
        result->heading = table_format(result, "%s: %s", key, heading);
    else
        result->heading = table_format(result, "%s: %s, by number of %s", key, heading, counts);
}

/* ---- rows: compare.sql ---- */

static void name_of(const struct table *table, const struct table_row *row, char name[NAME_BYTES])
{
    size_t used = (size_t)snprintf(name, NAME_BYTES, "%s", row->name);

    for (unsigned i = 0; i < table->column_count && used < NAME_BYTES; i++)
        if (table->columns[i].is_key && row->cells[i].text != NULL)
            used += (size_t)snprintf(name + used, NAME_BYTES - used, ", %s", row->cells[i].text);
}

/* An unknown value stays NULL. */
static void add_cells(const struct comparison *comparison, unsigned side, unsigned run, sqlite3_stmt *insert)
{
    const struct table *table = comparison->tables[side][run];
    const struct table_column *column = &table->columns[comparison->column];
    char name[NAME_BYTES];

    for (size_t i = 0; i < table->count; i++) {
        const union table_cell *cells = table->rows[i]->cells, cell = cells[comparison->column];

        name_of(table, table->rows[i], name);
        sqlite3_bind_int(insert, 1, (int)side);
        sqlite3_bind_int(insert, 2, (int)run);
        sqlite3_bind_text(insert, 3, name, -1, SQLITE_TRANSIENT);
        if (table_cell_is_known(column, cell))
            sqlite3_bind_double(insert, 4, column->kind == COLUMN_REAL ? cell.real : (double)cell.count);
        sqlite3_bind_double(insert, 5, comparison->work >= 0 ? (double)cells[comparison->work].count : 1);
        sqlite3_step(insert);
        sqlite3_reset(insert);
        sqlite3_clear_bindings(insert);
    }
}

static void fill_runs(const struct comparison *comparison, sqlite3 *sqlite)
{
    sqlite3_stmt *cells, *runs;

    sqlite3_exec(sqlite,
                 "CREATE TABLE cells(side, run, name, value, work); CREATE TABLE runs(side, run, unit)", NULL,
                 NULL, NULL);
    sqlite3_prepare_v2(sqlite, "INSERT INTO cells VALUES(?, ?, ?, ?, ?)", -1, &cells, NULL);
    sqlite3_prepare_v2(sqlite, "INSERT INTO runs VALUES(?, ?, ?)", -1, &runs, NULL);
    for (unsigned side = 0; side < 2; side++)
        for (unsigned run = 0; run < comparison->runs[side]; run++) {
            sqlite3_bind_int(runs, 1, (int)side);
            sqlite3_bind_int(runs, 2, (int)run);
            if (comparison->work == COMPARE_BY_UNIT)
                sqlite3_bind_double(runs, 3, comparison->units[side][run]);
            sqlite3_step(runs);
            sqlite3_reset(runs);
            add_cells(comparison, side, run, cells);
        }
    sqlite3_finalize(cells);
    sqlite3_finalize(runs);
}

static void call_chance(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    struct sample samples[2];

    for (int i = 0; i < 2; i++)
        samples[i] =
            (struct sample){(unsigned)sqlite3_value_int(argv[3 * i]), sqlite3_value_double(argv[3 * i + 1]),
                            sqlite3_value_double(argv[3 * i + 2])};
    sqlite3_result_double(context, chance_of(samples[0], samples[1]));
}

static void add_row(struct table *result, sqlite3_stmt *statement)
{
    struct table_row *row = table_add(result, (const char *)sqlite3_column_text(statement, 0));

    for (int c = 0; c < COMPARE_VERDICT; c++) {
        const struct table_column *column = &result->columns[c];

        if (sqlite3_column_type(statement, c + 1) == SQLITE_NULL)
            row->cells[c] = table_unknown(column);
        else if (column->kind == COLUMN_REAL)
            row->cells[c].real = sqlite3_column_double(statement, c + 1);
        else
            row->cells[c].number = sqlite3_column_int64(statement, c + 1);
    }
    row->cells[COMPARE_VERDICT].text = NULL;
}

static void bind(sqlite3_stmt *statement, const char *name, double value)
{
    sqlite3_bind_double(statement, sqlite3_bind_parameter_index(statement, name), value);
}

void compare_tables(const struct comparison *comparison, const char *key, struct table *result)
{
    const struct table *first = comparison->tables[0][0];
    const struct table_column *column = &first->columns[comparison->column];
    sqlite3_stmt *statement = NULL;
    sqlite3 *sqlite;

    *result = (struct table){.others = first->others, .order = TABLE_AS_FILLED, .is_wanted = true};
    make_columns(result, comparison, column);
    name_result(comparison, column, key, result);
    sqlite3_open(":memory:", &sqlite);
    sqlite3_create_function(sqlite, "chance", 6, SQLITE_UTF8, NULL, call_chance, NULL, NULL);
    fill_runs(comparison, sqlite);
    sqlite3_prepare_v2(sqlite, analysis_sql("compare"), -1, &statement, NULL);
    bind(statement, ":sum", column->sum);
    bind(statement, ":adds", adds_up(column));
    bind(statement, ":is_time", column->kind == COLUMN_TIME);
    bind(statement, ":threshold", comparison->threshold / 100);
    bind(statement, ":least", comparison->least / 100);
    while (sqlite3_step(statement) == SQLITE_ROW)
        add_row(result, statement);
    sqlite3_finalize(statement);
    sqlite3_close(sqlite);
}

/* ---- which changes are significant ---- */

static double change_of(const struct table *table, const struct table_row *row)
{
    union table_cell cell = row->cells[COMPARE_CHANGE];

    return fabs(table->columns[COMPARE_CHANGE].kind == COLUMN_REAL ? cell.real : (double)cell.number);
}

bool compare_is_significant(const struct table_row *row)
{
    const char *verdict = row->cells[COMPARE_VERDICT].text;

    return verdict != NULL && strcmp(verdict, SIGNIFICANT) == 0;
}

static int by_change(const void *left, const void *right, void *argument)
{
    const struct table_row *a = *(struct table_row *const *)left, *b = *(struct table_row *const *)right;
    double first = change_of(argument, a), second = change_of(argument, b);

    if (compare_is_significant(a) != compare_is_significant(b))
        return compare_is_significant(a) ? -1 : 1;
    return first != second ? (first < second ? 1 : -1) : strcmp(a->name, b->name);
}

size_t compare_count_judged(const struct table *result)
{
    size_t count = 0;

    for (size_t i = 0; i < result->count; i++)
        count += !isnan(result->rows[i]->cells[COMPARE_CHANCE].real);
    return count;
}

/* Bonferroni's correction: of many unchanged rows, a few look significant by chance. */
void compare_judge(struct table *result, size_t judged)
{
    for (size_t i = 0; i < result->count; i++) {
        union table_cell *cells = result->rows[i]->cells;

        if (isnan(cells[COMPARE_CHANCE].real))
            continue;
        cells[COMPARE_CHANCE].real = fmin(1, cells[COMPARE_CHANCE].real * (double)judged);
        cells[COMPARE_VERDICT].text = cells[COMPARE_CHANCE].real < CHANCE_MAX ? SIGNIFICANT : "noise";
    }
    if (result->count > 1)
        qsort_r(result->rows, result->count, sizeof(result->rows[0]), by_change, result);
}
