/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/answer/compare.h - two tables of one kind, from two traces: what changed, largest change first.
 *
 * Rows are compared by name, and by their texts that belong to it (TEXT_KEY). Rows of one name, threads of a
 * program say, are one: they add up, as far as a column does. What adds up is divided by a side's unit, so
 * that traces of different length compare: by its seconds, or how often something happened.
 */
#ifndef TARN_COMPARE_H
#define TARN_COMPARE_H

#include <tools/tarn/answer/answer.h>

struct comparison {
    const struct table *tables[2];
    double units[2];  /* > 0 */
    unsigned column;  /* of the tables */
    double threshold; /* changes below so many percent of the larger value are left out */
    double least;     /* and below so many percent of all rows of the first side, where they add up */
};

/* Why tables like this cannot be compared; NULL: they can. */
const char *compare_refuses(const struct table *table);
/* The column to compare if nobody chose one: by which it is sorted, or the first that adds up. -1: none. */
int compare_column(const struct table *table);
/* Can the column be compared? */
bool compare_wants(const struct table_column *column);

/* Fills RESULT, made by this: rows of what changed, with these columns. table_free. */
enum { COMPARE_A, COMPARE_B, COMPARE_CHANGE, COMPARE_RATIO, COMPARE_COLUMNS };
void compare_tables(const struct comparison *comparison, const char *key, struct table *result);

#endif
