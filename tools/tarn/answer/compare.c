/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/answer/compare.c - what changed between two tables; see compare.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/answer/compare.h>

#define NAME_BYTES 512u

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

int compare_column(const struct table *table)
{
    int mean = -1;

    if (table->order >= 0 && compare_wants(&table->columns[table->order]))
        return table->order;
    if (table->is_whole) /* rows in an order of their own: equal things done in different ways */
        mean = table_find_column(table, "mean_ns");
    for (unsigned i = 0; i < table->column_count && mean < 0; i++)
        if (compare_wants(&table->columns[i]) && table->columns[i].sum == SUM_ADDED)
            return (int)i;
    return mean < 0 ? -1 : mean;
}

/* ---- rows of one name ---- */

static void name_of(const struct table *table, const struct table_row *row, char name[NAME_BYTES])
{
    size_t used = (size_t)snprintf(name, NAME_BYTES, "%s", row->name);

    for (unsigned i = 0; i < table->column_count && used < NAME_BYTES; i++)
        if (table->columns[i].is_key && row->cells[i].text != NULL)
            used += (size_t)snprintf(name + used, NAME_BYTES - used, ", %s", row->cells[i].text);
}

/* What does not add up is not known of several. */
static void forget_singles(const struct table *table, struct table_row *row)
{
    struct table_row *none = alloc_zero(1, sizeof(*none) + TABLE_COLUMNS_MAX * sizeof(union table_cell));

    table_clear_cells(table, none);
    for (unsigned i = 0; i < table->column_count; i++)
        if (table->columns[i].sum == SUM_NOTHING)
            row->cells[i] = none->cells[i];
    free(none);
}

/* SUMS: like TABLE, empty. */
static void sum_rows(const struct table *table, struct table *sums)
{
    char name[NAME_BYTES];

    *sums = (struct table){
        .columns = table->columns, .column_count = table->column_count, .order = TABLE_AS_FILLED};
    for (size_t i = 0; i < table->count; i++) {
        const struct table_row *row = table->rows[i];
        struct table_row *sum;
        size_t before = sums->count;

        name_of(table, row, name);
        sum = table_row(sums, 0, name);
        if (sums->count != before) {
            memcpy(sum->cells, row->cells, table->column_count * sizeof(row->cells[0]));
        } else {
            table_add_cells(table, sum, row);
            forget_singles(table, sum);
        }
    }
}

/* ---- two sides ---- */

static bool is_share(const struct table_column *column)
{
    return column->kind == COLUMN_REAL &&
           (strstr(column->key, "percent") != NULL || strstr(column->key, "per_second") != NULL);
}

static bool adds_up(const struct table_column *column)
{
    return column->sum == SUM_ADDED && !is_share(column);
}

/* By its unit, times in whole nanoseconds; NAN: not known. A row that is not there has nothing of what adds
 * up. */
static double value_of(const struct comparison *comparison, const struct table_column *column,
                       const struct table_row *row, unsigned side)
{
    union table_cell cell;
    double value;

    if (row == NULL)
        return column->sum == SUM_ADDED ? 0 : NAN;
    cell = row->cells[comparison->column];
    if (!table_cell_is_known(column, cell))
        return NAN;
    value = column->kind == COLUMN_REAL ? cell.real : (double)cell.count;
    if (adds_up(column))
        value /= comparison->units[side];
    return column->kind == COLUMN_TIME ? round(value) : value;
}

static void put_value(const struct table_column *column, union table_cell *cell, double value)
{
    if (column->kind == COLUMN_REAL)
        cell->real = value;
    else
        cell->number = isnan(value) ? TABLE_NONE : (int64_t)value;
}

static bool is_large_enough(const struct comparison *comparison, double a, double b, double all)
{
    double change = fabs(b - a), larger = fmax(fabs(a), fabs(b));

    return change > 0 && change >= larger * comparison->threshold / 100 &&
           change >= all * comparison->least / 100;
}

static void add_row(const struct comparison *comparison, struct table *result, const char *name,
                    const struct table_row *rows[2], double all)
{
    const struct table_column *column = &comparison->tables[0]->columns[comparison->column];
    double a = value_of(comparison, column, rows[0], 0), b = value_of(comparison, column, rows[1], 1);
    struct table_row *row;

    if (!is_large_enough(comparison, a, b, all))
        return;
    row = table_add(result, name);
    put_value(&result->columns[COMPARE_A], &row->cells[COMPARE_A], a);
    put_value(&result->columns[COMPARE_B], &row->cells[COMPARE_B], b);
    put_value(&result->columns[COMPARE_CHANGE], &row->cells[COMPARE_CHANGE], b - a);
    row->cells[COMPARE_RATIO].real = a != 0 ? b / a : NAN;
}

static double change_of(const struct table *table, const struct table_row *row)
{
    union table_cell cell = row->cells[COMPARE_CHANGE];

    return fabs(table->columns[COMPARE_CHANGE].kind == COLUMN_REAL ? cell.real : (double)cell.number);
}

static int by_change(const void *left, const void *right, void *argument)
{
    const struct table_row *a = *(struct table_row *const *)left, *b = *(struct table_row *const *)right;
    double first = change_of(argument, a), second = change_of(argument, b);

    return first != second ? (first < second ? 1 : -1) : strcmp(a->name, b->name);
}

/* In nanoseconds where the column is a time. */
static void make_columns(struct table *result, const struct table_column *column)
{
    struct table_column *columns = arena_alloc(&result->arena, COMPARE_COLUMNS * sizeof(columns[0]));
    bool is_time = column->kind == COLUMN_TIME;
    enum column_kind kind = is_time ? COLUMN_TIME : COLUMN_REAL,
                     change = is_time ? COLUMN_CHANGE : COLUMN_REAL;
    enum column_sum sum = column->sum == SUM_ADDED ? SUM_ADDED : SUM_NOTHING;

    columns[COMPARE_A] = (struct table_column)COLUMN_AS("A", is_time ? "a_ns" : "a", kind, sum, 2);
    columns[COMPARE_B] = (struct table_column)COLUMN_AS("B", is_time ? "b_ns" : "b", kind, sum, 2);
    columns[COMPARE_CHANGE] =
        (struct table_column)COLUMN_AS("change", is_time ? "change_ns" : "change", change, sum, 2);
    columns[COMPARE_RATIO] = (struct table_column)MEAN_COLUMN("ratio", "ratio", 2);
    result->columns = columns;
    result->column_count = COMPARE_COLUMNS;
}

void compare_tables(const struct comparison *comparison, const char *key, struct table *result)
{
    const struct table *tables[2] = {comparison->tables[0], comparison->tables[1]};
    const struct table_column *column = &tables[0]->columns[comparison->column];
    struct table sums[2];
    double all = 0;

    *result = (struct table){.others = tables[0]->others, .order = TABLE_AS_FILLED, .is_wanted = true};
    make_columns(result, column);
    result->key = table_format(result, "%s.%s", key, column->key);
    result->heading = table_format(result, "%s: %s", key, column->heading);
    sum_rows(tables[0], &sums[0]);
    sum_rows(tables[1], &sums[1]);
    for (size_t i = 0; i < sums[0].count && adds_up(column); i++)
        all += value_of(comparison, column, sums[0].rows[i], 0);
    for (size_t i = 0; i < sums[0].count; i++) {
        const struct table_row *rows[2] = {sums[0].rows[i], table_find(&sums[1], 0, sums[0].rows[i]->name)};

        add_row(comparison, result, rows[0]->name, rows, all);
    }
    for (size_t i = 0; i < sums[1].count; i++)
        if (table_find(&sums[0], 0, sums[1].rows[i]->name) == NULL)
            add_row(comparison, result, sums[1].rows[i]->name,
                    (const struct table_row *[2]){NULL, sums[1].rows[i]}, all);
    if (result->count > 1)
        qsort_r(result->rows, result->count, sizeof(result->rows[0]), by_change, result);
    table_free(&sums[0]);
    table_free(&sums[1]);
}
