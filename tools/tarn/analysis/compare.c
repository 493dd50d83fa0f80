/* SPDX-License-Identifier: BSD-2-Clause */
/* compare.c - what changed between two tables; see compare.h. */
#include <math.h>
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

/* ---- rows of one name ---- */

static void name_of(const struct table *table, const struct table_row *row, char name[NAME_BYTES])
{
    size_t used = (size_t)snprintf(name, NAME_BYTES, "%s", row->name);

    for (unsigned i = 0; i < table->column_count && used < NAME_BYTES; i++)
        if (table->columns[i].is_key && row->cells[i].text != NULL)
            used += (size_t)snprintf(name + used, NAME_BYTES - used, ", %s", row->cells[i].text);
}

/* Makes a table with one row per name, and an additional column with the number of rows merged. */
static void sum_rows(const struct table *table, struct table *sums)
{
    struct table_column *columns;
    char name[NAME_BYTES];

    *sums = (struct table){.column_count = table->column_count + 1, .order = TABLE_AS_FILLED};
    columns = arena_alloc(&sums->arena, sums->column_count * sizeof(columns[0]));
    memcpy(columns, table->columns, table->column_count * sizeof(columns[0]));
    columns[table->column_count] = (struct table_column)COLUMN_CALLED("", "rows", COLUMN_COUNT, SUM_ADDED, 0);
    sums->columns = columns;
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
            for (unsigned c = 0; c < table->column_count; c++) /* those that do not add up */
                if (table->columns[c].sum == SUM_NOTHING)
                    sum->cells[c] = table_unknown(&table->columns[c]);
        }
        sum->cells[table->column_count].count++;
    }
}

/* ---- values of a row ---- */

/* All runs of both sides, merged. */
struct sides {
    const struct comparison *comparison;
    const struct table_column *column; /* the one compared */
    struct table sums[2][COMPARE_RUNS_MAX];
    double all[2]; /* total of all rows of a side, not normalized */
};

/* The known values of a row on one side, one per run. */
struct values {
    double runs[COMPARE_RUNS_MAX];
    unsigned count;
};

static bool is_share(const struct table_column *column)
{
    return column->kind == COLUMN_REAL &&
           (strstr(column->key, "percent") != NULL || strstr(column->key, "per_second") != NULL);
}

static bool adds_up(const struct table_column *column)
{
    return column->sum == SUM_ADDED && !is_share(column);
}

/* Returns the divisor, for the row or the run; NAN: none. */
static double work_of(const struct sides *sides, const struct table_row *row, unsigned side, unsigned run)
{
    const struct comparison *comparison = sides->comparison;
    double work = comparison->units[side][run];

    if (comparison->work != COMPARE_BY_UNIT) {
        unsigned rows = comparison->tables[0][0]->column_count;

        work = (double)row->cells[comparison->work >= 0 ? (unsigned)comparison->work : rows].count;
    }
    return work > 0 ? work : NAN;
}

/* Returns the normalized value in one run; NAN: unknown. A missing row counts as 0 if the column adds up. */
static double value_of(const struct sides *sides, const struct table_row *row, unsigned side, unsigned run)
{
    union table_cell cell;
    double value;

    if (row == NULL)
        return sides->column->sum == SUM_ADDED ? 0 : NAN;
    cell = row->cells[sides->comparison->column];
    if (!table_cell_is_known(sides->column, cell))
        return NAN;
    value = sides->column->kind == COLUMN_REAL ? cell.real : (double)cell.count;
    return adds_up(sides->column) && value != 0 ? value / work_of(sides, row, side, run) : value;
}

static struct values values_of(const struct sides *sides, const char *name, unsigned side)
{
    struct values values = {.count = 0};

    for (unsigned run = 0; run < sides->comparison->runs[side]; run++) {
        const struct table_row *row = table_find(&sides->sums[side][run], 0, name);
        double value = value_of(sides, row, side, run);

        if (!isnan(value))
            values.runs[values.count++] = value;
    }
    return values;
}

/* ---- a row of the result ---- */

static void put_value(const struct table_column *column, union table_cell *cell, double value)
{
    if (column->kind == COLUMN_REAL)
        cell->real = value;
    else
        cell->number = isnan(value) ? TABLE_NONE : (int64_t)value;
}

static bool is_large_enough(const struct comparison *comparison, double a, double b)
{
    double change = fabs(b - a), larger = fmax(fabs(a), fabs(b));

    return change > 0 && change >= larger * comparison->threshold / 100;
}

/* Return the value of rows with that name in one run, and in all runs of a side, not normalized. */
static double whole_in(const struct sides *sides, const struct table *sums, const char *name)
{
    const struct table_row *row = table_find(sums, 0, name);
    union table_cell cell;

    if (row == NULL)
        return 0;
    cell = row->cells[sides->comparison->column];
    if (!table_cell_is_known(sides->column, cell))
        return 0;
    return sides->column->kind == COLUMN_REAL ? cell.real : (double)cell.count;
}

static double whole_of(const struct sides *sides, const char *name, unsigned side)
{
    double whole = 0;

    for (unsigned run = 0; run < sides->comparison->runs[side]; run++)
        whole += whole_in(sides, &sides->sums[side][run], name);
    return whole;
}

/* Whether the row is a large enough part of its table on at least one side. */
static bool is_least_part(const struct sides *sides, const char *name)
{
    double least = sides->comparison->least / 100;

    return least == 0 || !adds_up(sides->column) || whole_of(sides, name, 0) >= sides->all[0] * least ||
           whole_of(sides, name, 1) >= sides->all[1] * least;
}

/* The noise of times is proportional to them, so logarithms are compared. NAN: a side has only one run, or a
 * value is 0. */
static double chance_between(const struct comparison *comparison, const struct values values[2])
{
    struct sample samples[2];

    for (int side = 0; side < 2; side++) {
        double logarithms[COMPARE_RUNS_MAX];

        if (values[side].count < 2 || values[side].count != comparison->runs[side])
            return NAN;
        for (unsigned i = 0; i < values[side].count; i++) {
            if (!(values[side].runs[i] > 0))
                return NAN;
            logarithms[i] = log(values[side].runs[i]);
        }
        samples[side] = sample_of(logarithms, values[side].count);
    }
    return chance_of(samples[0], samples[1]);
}

static double spread_of(const struct sample *sample)
{
    return sample->count > 1 && sample->mean != 0 ? 100 * sample->deviation / fabs(sample->mean) : NAN;
}

/* Times are whole nanoseconds. */
static double mean_of(const struct sides *sides, const struct sample *sample)
{
    if (sample->count == 0)
        return NAN;
    return sides->column->kind == COLUMN_TIME ? round(sample->mean) : sample->mean;
}

static void add_row(const struct sides *sides, struct table *result, const char *name)
{
    const struct values values[2] = {values_of(sides, name, 0), values_of(sides, name, 1)};
    struct sample samples[2];
    struct table_row *row;
    double a, b;

    for (int side = 0; side < 2; side++)
        samples[side] = sample_of(values[side].runs, values[side].count);
    a = mean_of(sides, &samples[0]);
    b = mean_of(sides, &samples[1]);
    if (!is_large_enough(sides->comparison, a, b) || !is_least_part(sides, name))
        return;
    row = table_add(result, name);
    put_value(&result->columns[COMPARE_A], &row->cells[COMPARE_A], a);
    put_value(&result->columns[COMPARE_B], &row->cells[COMPARE_B], b);
    put_value(&result->columns[COMPARE_CHANGE], &row->cells[COMPARE_CHANGE], b - a);
    row->cells[COMPARE_RATIO].real = a != 0 ? b / a : NAN;
    row->cells[COMPARE_SPREAD_A].real = spread_of(&samples[0]);
    row->cells[COMPARE_SPREAD_B].real = spread_of(&samples[1]);
    row->cells[COMPARE_CHANCE].real = chance_between(sides->comparison, values);
    row->cells[COMPARE_VERDICT].text = NULL;
}

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

/* ---- a table ---- */

/* Times are in nanoseconds. With one run on each side, there are no columns about noise. */
static void make_columns(struct table *result, const struct sides *sides)
{
    struct table_column *columns = arena_alloc(&result->arena, COMPARE_COLUMNS * sizeof(columns[0]));
    bool is_time = sides->column->kind == COLUMN_TIME;
    bool has_spread = sides->comparison->runs[0] > 1 || sides->comparison->runs[1] > 1;
    enum column_kind kind = is_time ? COLUMN_TIME : COLUMN_REAL,
                     change = is_time ? COLUMN_CHANGE : COLUMN_REAL;
    enum column_sum sum = sides->column->sum == SUM_ADDED && sides->comparison->work == COMPARE_BY_UNIT
                              ? SUM_ADDED
                              : SUM_NOTHING;

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
static void name_result(const struct sides *sides, const char *key, struct table *result)
{
    const struct comparison *comparison = sides->comparison;
    const struct table *table = comparison->tables[0][0];
    char text[HEADING_BYTES];
    const char *heading = column_heading(sides->column, text);
    const char *counts = comparison->work >= 0 ? table->columns[comparison->work].key : table->others;

    result->key = table_format(result, "%s.%s", key, sides->column->key);
    if (comparison->work == COMPARE_BY_UNIT || !adds_up(sides->column))
        result->heading = table_format(result, "%s: %s", key, heading);
    else
        result->heading = table_format(result, "%s: %s, by number of %s", key, heading, counts);
}

static bool is_in_earlier(const struct sides *sides, unsigned side, unsigned run, const char *name)
{
    for (unsigned s = 0; s <= side; s++)
        for (unsigned r = 0; r < (s == side ? run : sides->comparison->runs[s]); r++)
            if (table_find(&sides->sums[s][r], 0, name) != NULL)
                return true;
    return false;
}

static void add_rows(const struct sides *sides, struct table *result)
{
    for (unsigned side = 0; side < 2; side++)
        for (unsigned run = 0; run < sides->comparison->runs[side]; run++) {
            const struct table *sums = &sides->sums[side][run];

            for (size_t i = 0; i < sums->count; i++)
                if (!is_in_earlier(sides, side, run, sums->rows[i]->name))
                    add_row(sides, result, sums->rows[i]->name);
        }
}

void compare_tables(const struct comparison *comparison, const char *key, struct table *result)
{
    const struct table *first = comparison->tables[0][0];
    struct sides *sides = alloc_zero(1, sizeof(*sides));

    sides->comparison = comparison;
    sides->column = &first->columns[comparison->column];
    *result = (struct table){.others = first->others, .order = TABLE_AS_FILLED, .is_wanted = true};
    make_columns(result, sides);
    name_result(sides, key, result);
    for (unsigned side = 0; side < 2; side++)
        for (unsigned run = 0; run < comparison->runs[side]; run++)
            sum_rows(comparison->tables[side][run], &sides->sums[side][run]);
    for (unsigned side = 0; side < 2; side++)
        for (unsigned run = 0; run < comparison->runs[side]; run++)
            for (size_t i = 0; i < sides->sums[side][run].count; i++)
                sides->all[side] +=
                    whole_in(sides, &sides->sums[side][run], sides->sums[side][run].rows[i]->name);
    add_rows(sides, result);
    if (result->count > 1)
        qsort_r(result->rows, result->count, sizeof(result->rows[0]), by_change, result);
    for (unsigned side = 0; side < 2; side++)
        for (unsigned run = 0; run < comparison->runs[side]; run++)
            table_free(&sides->sums[side][run]);
    free(sides);
}
