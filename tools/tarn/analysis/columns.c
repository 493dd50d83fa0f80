/* SPDX-License-Identifier: BSD-2-Clause */
/* columns.c - prints the descriptions of columns; see columns.h. */
#include <stdio.h>
#include <string.h>
#include <tools/tarn/analysis/columns.h>

const struct column_text *column_text(const struct analysis_kind *kind, const struct table *table,
                                      const char *key)
{
    const struct column_text *last = NULL;

    for (unsigned i = 0; i < kind->text_count; i++)
        if (strcmp(kind->texts[i].key, key) == 0 &&
            (kind->texts[i].tables == NULL || list_names(kind->texts[i].tables, table->key)))
            last = &kind->texts[i];
    return last;
}

/* Describes the columns of TABLE whose descriptions were not SHOWN yet. Tables are printed in parentheses, if
 * only these have such a column. */
static void put_columns(struct page *page, const struct analysis_kind *kind, const struct table *table,
                        bool *shown)
{
    for (unsigned c = 0; c < table->column_count; c++) {
        struct table_column column = table->columns[c];
        const struct column_text *text = column_text(kind, table, column.key);
        char heading[HEADING_BYTES], whole[500];

        if (column.kind == COLUMN_BAR || text == NULL || shown[text - kind->texts])
            continue;
        shown[text - kind->texts] = true;
        column.heading = NULL; /* a total's heading is worded for its sentence */
        snprintf(whole, sizeof(whole), text->tables != NULL ? "(%s) %s" : "%s%s",
                 text->tables != NULL ? text->tables : "", text->text);
        page_entry(page, column_heading(&column, heading), NULL, whole);
    }
}

void columns_describe(struct page *page, const struct analysis_kind *kind)
{
    bool *shown = alloc_zero(kind->text_count + 1, sizeof(bool));

    if (kind->totals != NULL)
        put_columns(page, kind, kind->totals, shown);
    for (unsigned i = 0; i < kind->table_count; i++)
        put_columns(page, kind, &kind->tables[i], shown);
    free(shown);
}

void columns_print_all(FILE *to)
{
    struct page page = {.to = to};
    char heading[100];

    fputs("The columns of all analyses. Names in parentheses limit a description to those tables.\n", to);
    for (const struct analysis_kind *const *kind = analysis_list(); *kind != NULL; kind++) {
        snprintf(heading, sizeof(heading), "tarn %s", (*kind)->name);
        page_heading(&page, heading);
        columns_describe(&page, *kind);
    }
}
