/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/answer/compare.h - tables of one kind from two sides, of one run each or of several: what
 * changed, largest change first.
 *
 * Rows are compared by name, and by their texts that belong to it (TEXT_KEY). Rows of one name, threads of a
 * program say, are one: they add up, as far as a column does. What adds up is divided, so that traces of
 * different length and load compare: by the row's own count of work (calls, processes, ...), or by a unit of
 * the run. With several runs on each side, a change is significant if runs of one side differ so little that
 * chance hardly explains it, whatever else was compared (compare_judge).
 */
#ifndef TARN_COMPARE_H
#define TARN_COMPARE_H

#include <tools/tarn/answer/answer.h>

#define COMPARE_RUNS_MAX 32u

/* What is divided by, instead of a column that counts work: */
#define COMPARE_BY_UNIT (-1) /* the run's unit */
#define COMPARE_BY_ROWS (-2) /* the number of rows of a name: processes of a program */

struct comparison {
    const struct table *tables[2][COMPARE_RUNS_MAX];
    double units[2][COMPARE_RUNS_MAX]; /* > 0 */
    unsigned runs[2];
    unsigned column;  /* of the tables */
    int work;         /* a column, or COMPARE_BY_... */
    double threshold; /* changes below so many percent of the larger value are left out */
    double least;     /* and rows that are less than so many percent of their table on both sides */
};

/* Why tables like this cannot be compared; NULL: they can. */
const char *compare_refuses(const struct table *table);
/* The column of processor time; -1: none. */
int compare_processor_column(const struct table *table);
bool compare_is_of_processor(const char *column_key);
/* The column by which the table is sorted, or the first that adds up. -1: none. */
int compare_column(const struct table *table);
/* Is the column compared if nobody chose some? Processor time, or its parts: how long somebody waited, or
 * lived, says how long the trace is. Where a table has none, compare_column. */
bool compare_usually(const struct table *table, unsigned column);
/* What counts the work of a row of which COLUMN is compared: for `comparison.work`. */
int compare_work(const struct table *table, unsigned column);
/* Can the column be compared? */
bool compare_wants(const struct table_column *column);

/* Fills RESULT, made by this: rows of what changed, with these columns. With several runs A and B are their
 * means, the spread is their standard deviation in percent of it. table_free. */
enum {
    COMPARE_A,
    COMPARE_B,
    COMPARE_CHANGE,
    COMPARE_RATIO,
    COMPARE_SPREAD_A,
    COMPARE_SPREAD_B,
    COMPARE_CHANCE,  /* the probability of such a change by chance; NAN: not known */
    COMPARE_VERDICT, /* text: "significant", "noise"; NULL: not known */
    COMPARE_COLUMNS
};
void compare_tables(const struct comparison *comparison, const char *key, struct table *result);
/* In how many rows chance can be judged. */
size_t compare_count_judged(const struct table *result);
/* Of so many rows in all: what is significant comes first. */
void compare_judge(struct table *result, size_t judged);
bool compare_is_significant(const struct table_row *row);

#endif
