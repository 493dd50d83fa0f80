/* SPDX-License-Identifier: BSD-2-Clause */
/* diff_tables.c - selects tables and columns and compares them; see diff.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/command/diff.h>

/* ---- which tables and columns ---- */

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

/* ---- joining them ---- */

/* Returns whether another table of the same analysis already has these rows, for example programs in place of
 * processes. */
static bool is_repeated(const struct diff *diff, size_t first, const struct table *table)
{
    for (size_t i = first; i + 1 < diff->result_count; i++) {
        const struct table *other = &diff->results[i];
        size_t same = 0;

        while (same < table->count && same < other->count &&
               strcmp(table->rows[same]->name, other->rows[same]->name) == 0 &&
               memcmp(table->rows[same]->cells, other->rows[same]->cells,
                      COMPARE_COLUMNS * sizeof(table->rows[0]->cells[0])) == 0)
            same++;
        if (table->count != 0 && same == table->count && same == other->count)
            return true;
    }
    return false;
}

static bool wants_column(const struct diff *diff, const struct table *table, unsigned column)
{
    char word[HEADING_BYTES];

    if (!compare_wants(&table->columns[column]))
        return false;
    if (diff->columns == NULL)
        return compare_usually(table, column);
    for (const char *list = diff->columns; next_word(&list, word);)
        if (strcmp(word, "all") == 0 || table_find_column(table, word) == (int)column)
            return true;
    return false;
}

static void fill_comparison(const struct diff *diff, struct comparison *comparison, unsigned analysis,
                            unsigned table)
{
    for (unsigned side = 0; side < 2; side++) {
        comparison->runs[side] = diff->run_count[side];
        for (unsigned run = 0; run < diff->run_count[side]; run++) {
            comparison->tables[side][run] = &diff->runs[side][run].analyses[analysis]->tables[table];
            comparison->units[side][run] = diff->runs[side][run].unit;
        }
    }
    comparison->threshold = diff->threshold;
    comparison->least = diff->least;
}

static void compare_one(struct diff *diff, struct comparison *comparison, unsigned column, const char *key,
                        size_t first)
{
    comparison->column = column;
    comparison->work =
        diff->per == PER_WORK ? compare_work(comparison->tables[0][0], column) : COMPARE_BY_UNIT;
    diff->results = alloc_more(diff->results, diff->result_count + 1, sizeof(diff->results[0]));
    compare_tables(comparison, key, &diff->results[diff->result_count++]);
    if (diff->by == NULL && diff->columns == NULL &&
        is_repeated(diff, first, &diff->results[diff->result_count - 1]))
        table_free(&diff->results[--diff->result_count]);
}

static void compare_columns(struct diff *diff, unsigned analysis, unsigned number, size_t first)
{
    const struct table *table = &diff->runs[0][0].analyses[analysis]->tables[number];
    struct comparison comparison = {.column = 0};
    char key[128];

    fill_comparison(diff, &comparison, analysis, number);
    snprintf(key, sizeof(key), "%s.%s", diff->analyses[analysis]->kind->name, table->key);
    for (unsigned i = 0; i < table->column_count; i++)
        if (wants_column(diff, table, i))
            compare_one(diff, &comparison, i, key, first);
}

static void compare_all(struct diff *diff)
{
    char left_out[400] = "";
    size_t used = 0;

    for (unsigned i = 0; i < diff->count; i++) {
        const struct analysis *analysis = diff->runs[0][0].analyses[i];
        size_t first = diff->result_count;

        for (unsigned t = 0; t < analysis->kind->table_count; t++) {
            const char *reason = compare_refuses(&analysis->tables[t]);

            if (!analysis->tables[t].is_wanted)
                continue;
            if (reason == NULL)
                compare_columns(diff, i, t, first);
            else if (diff->by != NULL && used < sizeof(left_out))
                used +=
                    (size_t)snprintf(left_out + used, sizeof(left_out) - used, "%s%s.%s (%s)",
                                     used ? ", " : "", analysis->kind->name, analysis->tables[t].key, reason);
        }
    }
    if (used != 0)
        complain("not compared: %s", left_out);
}

/* Decides which rows are significant, over all tables together. */
static void judge_all(struct diff *diff)
{
    for (size_t i = 0; i < diff->result_count; i++)
        diff->judged += compare_count_judged(&diff->results[i]);
    for (size_t i = 0; i < diff->result_count; i++) {
        compare_judge(&diff->results[i], diff->judged);
        for (size_t r = 0; r < diff->results[i].count; r++)
            diff->significant += compare_is_significant(diff->results[i].rows[r]);
    }
}

/* ---- the largest changes of all ---- */

static const struct table_column largest_columns[] = {
    TEXT_COLUMN("in"), TIME_OF_ONE("a_ns"), TIME_OF_ONE("b_ns"),
    COLUMN_AS("change_ns", COLUMN_CHANGE, SUM_NOTHING, 0), MEAN_COLUMN("ratio", 2)};
#define LARGEST_COLUMNS (sizeof(largest_columns) / sizeof(largest_columns[0]))

static int64_t change_in(const struct table *largest, size_t row)
{
    int64_t change = largest->rows[row]->cells[1 + COMPARE_CHANGE].number;

    return change < 0 ? -change : change;
}

/* Returns whether the table is about CPU time: its key ends with such a column's key. */
static bool is_of_processor(const struct table *result)
{
    return compare_is_of_processor(strrchr(result->key, '.') + 1);
}

static bool has_processor_tables(const struct diff *diff)
{
    for (size_t i = 0; i < diff->result_count; i++)
        if (is_of_processor(&diff->results[i]))
            return true;
    return false;
}

static void add_largest(struct table *largest, const struct table *table, const struct table_row *from)
{
    struct table_row *row = table_add(largest, from->name);
    size_t place = largest->count - 1;

    row->cells[0].text = table_text(largest, table->key);
    memcpy(&row->cells[1], from->cells, (LARGEST_COLUMNS - 1) * sizeof(row->cells[0]));
    for (; place > 0 && change_in(largest, place) > change_in(largest, place - 1); place--) {
        struct table_row *other = largest->rows[place - 1];

        largest->rows[place - 1] = largest->rows[place];
        largest->rows[place] = other;
    }
}

/* Finds the largest changes: of CPU time or, without it, of all times that add up. With several runs, only
 * significant ones. */
static void find_largest(struct diff *diff)
{
    bool has_processor = has_processor_tables(diff);
    struct table *largest = &diff->largest;

    *largest = (struct table)TABLE("largest", "largest changes", "changes", largest_columns, TABLE_AS_FILLED);
    if (has_processor)
        largest->heading = "largest changes of CPU time";
    for (size_t i = 0; i < diff->result_count; i++) {
        const struct table *table = &diff->results[i];

        if (table->columns[COMPARE_A].kind != COLUMN_TIME || (has_processor && !is_of_processor(table)))
            continue;
        for (size_t r = 0; r < table->count && r < DIFF_TEXT_TOP; r++)
            if (!diff_has_several(diff) || compare_is_significant(table->rows[r]))
                add_largest(largest, table, table->rows[r]);
    }
}

void diff_compare(struct diff *diff)
{
    compare_all(diff);
    judge_all(diff);
    find_largest(diff);
}
