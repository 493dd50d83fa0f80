/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * columns.h - descriptions of the columns of all analyses, for --help, `tarn help columns` and the view.
 *
 * A key means the same in every table, unless an analysis or a table has its own description for it.
 * tests/unit/tarn/columns_test.c fails for a column without a description, and for a description without a
 * column.
 */
#ifndef TARN_COLUMNS_H
#define TARN_COLUMNS_H

#include <stdio.h>
#include <tools/tarn/analysis/analysis.h>
#include <tools/tarn/help.h>

struct column_text {
    /* NULL: the default; "locks": for that analysis; "faults.page": for that table; or several of these */
    const char *where;
    const char *key;
    const char *text; /* one sentence, without capital and full stop */
};
extern const struct column_text column_texts[]; /* ended by a NULL key */

/* Returns the description of column KEY in TABLE of KIND; NULL: none. */
const struct column_text *column_text(const struct analysis_kind *kind, const struct table *table,
                                      const char *key);

/* Describes KIND's columns, naming the tables where descriptions differ. */
void columns_describe(struct page *page, const struct analysis_kind *kind);
void columns_print_all(FILE *to);

#endif
