/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/answer/columns.h - what the columns of the answers say, in words: for --help, `tarn help
 * columns`, the manual and the view.
 *
 * A key means the same in every table that has it, unless an answer or a table has a sentence of its own for
 * it. A column without a sentence fails tests/columns_test.c, and so does a sentence without a column.
 */
#ifndef TARN_COLUMNS_H
#define TARN_COLUMNS_H

#include <stdio.h>
#include <tools/tarn/answer/answer.h>

struct column_text {
    /* NULL: wherever no other fits; "locks": in that answer; "faults.page": in that table; or several */
    const char *where;
    const char *key;
    const char *text; /* one sentence, without a capital and a full stop */
};
extern const struct column_text column_texts[]; /* ended by a key of NULL */

/* The sentence for the column KEY of a TABLE of KIND; NULL: there is none. */
const struct column_text *column_text(const struct answer_kind *kind, const struct table *table,
                                      const char *key);

/* The columns of KIND, each with its sentence, and the tables that it is for where others say else. */
void columns_print_help(FILE *to, const struct answer_kind *kind);
/* `tarn help columns`: of all answers. */
void columns_print_all(FILE *to);

#endif
