/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * columns.h - descriptions of the columns of analyses, for --help, `tarn help columns` and the view.
 *
 * shared.sql and each analysis declare them (relation/README.md): the last one that fits counts. Tests:
 * tests/host/analyses, tests/host/usage.
 */
#ifndef TARN_COLUMNS_H
#define TARN_COLUMNS_H

#include <stdio.h>
#include <tools/tarn/analysis/analysis.h>
#include <tools/tarn/help.h>

struct column_text {
    const char *key, *tables; /* tables: NULL: all */
    const char *text;         /* one sentence, without capital and full stop */
};

/* Returns the description of column KEY in TABLE of KIND; NULL: none. */
const struct column_text *column_text(const struct analysis_kind *kind, const struct table *table,
                                      const char *key);

/* Describes KIND's columns, naming the tables where descriptions differ. */
void columns_describe(struct page *page, const struct analysis_kind *kind);
void columns_print_all(FILE *to);

#endif
