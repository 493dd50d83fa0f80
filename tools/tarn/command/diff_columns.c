/* SPDX-License-Identifier: BSD-2-Clause */
/* diff_columns.c - selects tables, columns and divisors; see diff.h. */
#include <stdio.h>
#include <string.h>
#include <tools/tarn/command/diff.h>

static bool wants_table(const struct diff *diff, const struct analysis_kind *kind, const struct table *table)
{
    char name[128];

    if (diff->by == NULL)
        return !table->is_extra && table->needs == NULL;
    snprintf(name, sizeof(name), "%s.%s", kind->name, table->key);
    return list_names(diff->by, "all") || list_names(diff->by, table->key) || list_names(diff->by, name);
}

/* Copies the first word of LIST to WORD, truncated beyond the length of any column's name, and moves LIST
 * past it. Returns false at the end of the list. */
static bool next_word(const char **list, char word[HEADING_BYTES])
{
    size_t length = strcspn(*list, ",");
    bool any = **list != '\0';

    snprintf(word, HEADING_BYTES, "%.*s", (int)(length < HEADING_BYTES ? length : HEADING_BYTES), *list);
    *list += length + ((*list)[length] == ',');
    return any;
}

static bool has_column(const struct diff *diff, const char *name)
{
    for (unsigned i = 0; i < diff->count; i++)
        for (unsigned t = 0; t < diff->analyses[i]->kind->table_count; t++) {
            const struct table *table = &diff->analyses[i]->tables[t];

            if (table->is_wanted && table_find_column(table, name) >= 0)
                return true;
        }
    return strcmp(name, "all") == 0;
}

/* Rejects columns that no table has. */
static bool check_columns(const struct diff *diff, struct fail *fail)
{
    char word[HEADING_BYTES];

    for (const char *list = diff->columns; next_word(&list, word);)
        if (!has_column(diff, word))
            return fail_set(fail, "no table has a column '%s'; `tarn help columns` lists all", word);
    return true;
}

bool diff_choose_tables(struct diff *diff, struct fail *fail)
{
    bool any = false;

    for (unsigned i = 0; i < diff->count; i++)
        for (unsigned t = 0; t < diff->analyses[i]->kind->table_count; t++) {
            struct table *table = &diff->analyses[i]->tables[t];

            table->is_wanted = wants_table(diff, diff->analyses[i]->kind, table);
            any |= table->is_wanted;
        }
    if (!any)
        return fail_set(fail, "no analysis has a table '%.200s'; `tarn ANALYSIS --help` lists its tables",
                        diff->by);
    return diff->columns == NULL || check_columns(diff, fail);
}

/* ---- columns ---- */

static bool is_number(const struct table_column *column)
{
    return column->kind == COLUMN_COUNT || column->kind == COLUMN_TIME || column->kind == COLUMN_REAL;
}

/* Returns the first of these columns that the table has; -1: none. */
static int find_one_of(const struct table *table, const char *const keys[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (table_find_column(table, keys[i]) >= 0)
            return table_find_column(table, keys[i]);
    return -1;
}

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* The first of these that a table has contains its whole CPU time. */
static const char *const processor_keys[] = {"ran_ns", "running_ns", "self_ns", "time_ns"};
static const char *const part_keys[] = {"user_ns", "posix_ns", "syscalls_ns", "faults_ns", "interrupts_ns"};

bool diff_is_of_processor(const char *key)
{
    for (size_t i = 0; i < COUNT_OF(processor_keys); i++)
        if (strcmp(key, processor_keys[i]) == 0)
            return true;
    return false;
}

/* Returns the column by which the table is sorted, or the first that adds up; -1: none. */
static int main_column(const struct table *table)
{
    int order = table_order(table), mean = -1;

    if (order >= 0 && is_number(&table->columns[order]))
        return order;
    if (table->is_whole) /* the order of rows is fixed: the same work done in different ways */
        mean = table_find_column(table, "mean_ns");
    for (unsigned i = 0; i < table->column_count && mean < 0; i++)
        if (is_number(&table->columns[i]) && table->columns[i].sum == SUM_ADDED)
            return (int)i;
    return mean;
}

/* Returns why tables like this cannot be compared; NULL: they can. */
static const char *refuse(const struct table *table)
{
    if (table->columns == histogram_columns)
        return "ranges that differ";
    for (unsigned i = 0; i < table->column_count; i++) {
        if (strcmp(table->columns[i].key, "at_ns") == 0 || strcmp(table->columns[i].key, "after_ns") == 0)
            return "single events";
        if (table->columns[i].kind == COLUMN_HEX)
            return "addresses";
    }
    return main_column(table) < 0 ? "nothing to compare" : NULL;
}

/* By default CPU time or its parts, because waiting times and lifetimes depend on the length of the trace. */
static bool is_usual(const struct table *table, int column)
{
    int processor = find_one_of(table, processor_keys, COUNT_OF(processor_keys));

    if (processor >= 0)
        return column == processor;
    if (table_find_column(table, "wall_ns") < 0)
        return column == main_column(table);
    for (size_t i = 0; i < COUNT_OF(part_keys); i++)
        if (strcmp(table->columns[column].key, part_keys[i]) == 0)
            return true;
    return false;
}

static bool wants_column(const struct diff *diff, const struct table *table, int column)
{
    char word[HEADING_BYTES];

    if (!is_number(&table->columns[column]))
        return false;
    if (diff->columns == NULL)
        return is_usual(table, column);
    for (const char *list = diff->columns; next_word(&list, word);)
        if (strcmp(word, "all") == 0 || table_find_column(table, word) == column)
            return true;
    return false;
}

static int work_of(const struct table *table, int column)
{
    static const char *const keys[] = {"processes", "calls", "faults",  "contentions", "taken",
                                       "count",     "times", "wakeups", "waits",       "stretches"};
    bool is_processor_time = column == find_one_of(table, processor_keys, COUNT_OF(processor_keys));
    /* CPU time is divided by the first two kinds only. */
    int work = find_one_of(table, keys, is_processor_time ? 2 : COUNT_OF(keys));

    if (table_find_column(table, "samples") >= 0 || table->columns[column].kind != COLUMN_TIME)
        return WORK_UNIT; /* rows are missing without samples; and counts are work themselves */
    if (work >= 0)
        return work;
    return table_find_column(table, "pid") >= 0 ? WORK_ROWS : WORK_UNIT;
}

static void add_columns(struct diff *diff, unsigned analysis, unsigned number)
{
    const struct table *table = &diff->runs[0][0].analyses[analysis]->tables[number];

    for (int i = 0; i < (int)table->column_count; i++) {
        if (!wants_column(diff, table, i))
            continue;
        diff->results = alloc_more(diff->results, diff->result_count + 1, sizeof(diff->results[0]));
        diff->results[diff->result_count++] =
            (struct compared){.analysis = analysis,
                              .table = number,
                              .column = (unsigned)i,
                              .work = diff->per == PER_WORK ? work_of(table, i) : WORK_UNIT};
    }
}

void diff_choose_columns(struct diff *diff)
{
    char left_out[400] = "";
    size_t used = 0;

    for (unsigned i = 0; i < diff->count; i++) {
        const struct analysis *analysis = diff->runs[0][0].analyses[i];

        for (unsigned t = 0; t < analysis->kind->table_count; t++) {
            const char *reason = refuse(&analysis->tables[t]);

            if (!analysis->tables[t].is_wanted)
                continue;
            if (reason == NULL)
                add_columns(diff, i, t);
            else if (diff->by != NULL && used < sizeof(left_out))
                used +=
                    (size_t)snprintf(left_out + used, sizeof(left_out) - used, "%s%s.%s (%s)",
                                     used ? ", " : "", analysis->kind->name, analysis->tables[t].key, reason);
        }
    }
    if (used != 0)
        complain("not compared: %s", left_out);
}
