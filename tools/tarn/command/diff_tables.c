/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/command/diff_tables.c - which tables and columns are compared, and what comes of it; see diff.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/command/diff.h>

/* ---- which tables and columns ---- */

bool diff_list_names(const char *list, const char *name)
{
    size_t length = strlen(name);

    while (*list != '\0') {
        size_t word = strcspn(list, ",");

        if (word == length && memcmp(list, name, length) == 0)
            return true;
        list += word + (list[word] == ',');
    }
    return false;
}

/* --by: the answers' tables, by "table", "answer.table" or "all". */
static bool wants_table(const struct diff *diff, const struct answer_kind *kind, const struct table *table)
{
    char name[128];

    if (diff->by == NULL)
        return !table->is_extra;
    snprintf(name, sizeof(name), "%s.%s", kind->name, table->key);
    return diff_list_names(diff->by, "all") || diff_list_names(diff->by, table->key) ||
           diff_list_names(diff->by, name);
}

static bool has_column(const struct diff *diff, const char *name, size_t length)
{
    for (unsigned i = 0; i < diff->count; i++)
        for (unsigned t = 0; t < diff->sides[0].answers[i]->kind->table_count; t++) {
            const struct table *table = &diff->sides[0].answers[i]->tables[t];

            for (unsigned c = 0; c < table->column_count && table->is_wanted; c++)
                if (strlen(table->columns[c].key) == length &&
                    memcmp(table->columns[c].key, name, length) == 0)
                    return true;
        }
    return length == 3 && memcmp(name, "all", 3) == 0;
}

/* One that no table has is a mistake. */
static bool check_columns(const struct diff *diff, struct fail *fail)
{
    for (const char *at = diff->columns; *at != '\0';) {
        size_t length = strcspn(at, ",");

        if (!has_column(diff, at, length))
            return fail_set(fail, "no table has a column '%.*s'; as JSON calls them, such as mean_ns",
                            (int)(length < 60 ? length : 60), at);
        at += length + (at[length] == ',');
    }
    return true;
}

bool diff_choose_tables(struct diff *diff, struct fail *fail)
{
    bool any = false;

    for (unsigned i = 0; i < diff->count; i++)
        for (int side = 0; side < 2; side++) {
            struct answer *answer = diff->sides[side].answers[i];

            for (unsigned t = 0; t < answer->kind->table_count; t++) {
                answer->tables[t].is_wanted = wants_table(diff, answer->kind, &answer->tables[t]);
                any |= answer->tables[t].is_wanted;
            }
        }
    if (!any)
        return fail_set(fail, "no answer has a table of '%.200s'; `tarn ANSWER --help` lists them", diff->by);
    return diff->columns == NULL || check_columns(diff, fail);
}

/* ---- joining them ---- */

/* Rows as another table of the same answer has them: processes as their programs, say. */
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

static void compare_columns(struct diff *diff, const struct answer_kind *kind, size_t first,
                            const struct table *tables[2])
{
    struct comparison comparison = {.tables = {tables[0], tables[1]},
                                    .units = {diff->sides[0].unit, diff->sides[1].unit},
                                    .threshold = diff->threshold,
                                    .least = diff->least};
    char key[128];

    snprintf(key, sizeof(key), "%s.%s", kind->name, tables[0]->key);
    for (unsigned i = 0; i < tables[0]->column_count; i++) {
        const struct table_column *column = &tables[0]->columns[i];
        bool is_chosen = diff->columns == NULL ? (int)i == compare_column(tables[0])
                                               : diff_list_names(diff->columns, column->key) ||
                                                     diff_list_names(diff->columns, "all");

        if (!is_chosen || !compare_wants(column))
            continue;
        comparison.column = i;
        diff->results = alloc_more(diff->results, diff->result_count + 1, sizeof(diff->results[0]));
        compare_tables(&comparison, key, &diff->results[diff->result_count++]);
        if (diff->by == NULL && diff->columns == NULL &&
            is_repeated(diff, first, &diff->results[diff->result_count - 1]))
            table_free(&diff->results[--diff->result_count]);
    }
}

static void compare_all(struct diff *diff)
{
    char left_out[400] = "";
    size_t used = 0;

    for (unsigned i = 0; i < diff->count; i++) {
        const struct answer *a = diff->sides[0].answers[i], *b = diff->sides[1].answers[i];
        size_t first = diff->result_count;

        for (unsigned t = 0; t < a->kind->table_count; t++) {
            const char *reason = compare_refuses(&a->tables[t]);

            if (!a->tables[t].is_wanted)
                continue;
            if (reason == NULL)
                compare_columns(diff, a->kind, first,
                                (const struct table *[2]){&a->tables[t], &b->tables[t]});
            else if (diff->by != NULL && used < sizeof(left_out))
                used += (size_t)snprintf(left_out + used, sizeof(left_out) - used, "%s%s.%s (%s)",
                                         used ? ", " : "", a->kind->name, a->tables[t].key, reason);
        }
    }
    if (used != 0)
        complain("not compared: %s", left_out);
}

static const struct table_column largest_columns[] = {
    TEXT_COLUMN("in", "in"), TIME_OF_ONE("A", "a_ns"), TIME_OF_ONE("B", "b_ns"),
    COLUMN_AS("change", "change_ns", COLUMN_CHANGE, SUM_NOTHING, 0), MEAN_COLUMN("ratio", "ratio", 2)};

static int64_t change_in(const struct table *largest, size_t row)
{
    int64_t change = largest->rows[row]->cells[1 + COMPARE_CHANGE].number;

    return change < 0 ? -change : change;
}

/* Of all times that add up, the few that changed most. */
static void find_largest(struct diff *diff)
{
    struct table *largest = &diff->largest;

    *largest = (struct table)TABLE("largest", "largest changes", "changes", largest_columns, TABLE_AS_FILLED);
    for (size_t i = 0; i < diff->result_count; i++) {
        const struct table *table = &diff->results[i];

        for (size_t r = 0;
             r < table->count && r < DIFF_TEXT_TOP && table->columns[COMPARE_A].kind == COLUMN_TIME &&
             table->columns[COMPARE_A].sum == SUM_ADDED;
             r++) {
            struct table_row *row = table_add(largest, table->rows[r]->name);
            size_t place = largest->count - 1;

            row->cells[0].text = table_text(largest, table->key);
            memcpy(&row->cells[1], table->rows[r]->cells, COMPARE_COLUMNS * sizeof(row->cells[0]));
            for (; place > 0 && change_in(largest, place) > change_in(largest, place - 1); place--) {
                struct table_row *other = largest->rows[place - 1];

                largest->rows[place - 1] = largest->rows[place];
                largest->rows[place] = other;
            }
        }
    }
}

void diff_compare(struct diff *diff)
{
    compare_all(diff);
    find_largest(diff);
}
