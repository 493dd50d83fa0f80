/* SPDX-License-Identifier: BSD-2-Clause */
/* diff_tables.c - selects tables; see diff.h. */
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

bool diff_names_column(const struct diff *diff, const struct table *table, int column)
{
    char word[HEADING_BYTES];

    for (const char *list = diff->columns; list != NULL && next_word(&list, word);)
        if (strcmp(word, "all") == 0 || table_find_column(table, word) == column)
            return true;
    return false;
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
