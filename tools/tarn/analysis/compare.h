/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compare.h - compares the same table of two sides, with one or several runs each: lists changes, largest
 * first.
 *
 * Rows are matched by name and by their TEXT_KEY columns. Rows with the same name, such as the threads of a
 * program, are merged by adding what adds up. Values that add up are normalized, so that traces of different
 * length and load can be compared: divided by the row's own amount of work (calls, processes, ...), or by a
 * unit of the run. With several runs per side, a change is significant if it is unlikely to be random,
 * considering the number of rows compared (compare_judge).
 */
#ifndef TARN_COMPARE_H
#define TARN_COMPARE_H

#include <tools/tarn/analysis/analysis.h>

#define COMPARE_RUNS_MAX 32u

/* Divisors other than a column that counts work. */
#define COMPARE_BY_UNIT (-1) /* the run's unit */
#define COMPARE_BY_ROWS (-2) /* the number of rows with the name: processes of a program */

struct comparison {
    const struct table *tables[2][COMPARE_RUNS_MAX];
    double units[2][COMPARE_RUNS_MAX]; /* > 0 */
    unsigned runs[2];
    unsigned column;  /* index in the tables */
    int work;         /* a column index, or COMPARE_BY_... */
    double threshold; /* leave out changes below this percentage of the larger value */
    double least;     /* and rows below this percentage of their table on both sides */
};

/* Returns why tables like this cannot be compared; NULL: they can. */
const char *compare_refuses(const struct table *table);
/* -1: none. */
int compare_processor_column(const struct table *table);
bool compare_is_of_processor(const char *column_key);
/* Returns the column by which the table is sorted, or the first that adds up; -1: none. */
int compare_column(const struct table *table);
/* Whether the column is compared by default: CPU time and its parts, because waiting times and lifetimes
 * depend on the length of the trace. A table without CPU time compares compare_column. */
bool compare_usually(const struct table *table, unsigned column);
/* Returns what to divide COLUMN of a row by, for `comparison.work`. */
int compare_work(const struct table *table, unsigned column);
bool compare_wants(const struct table_column *column);

/* Fills RESULT, which it initializes, with the rows that changed, in these
 * columns. With several runs, A and B are means, and the spread is the
 * standard deviation in percent of the mean. Free RESULT with table_free. */
enum {
    COMPARE_A,
    COMPARE_B,
    COMPARE_CHANGE,
    COMPARE_RATIO,
    COMPARE_SPREAD_A,
    COMPARE_SPREAD_B,
    COMPARE_CHANCE,  /* the probability that such a change is random; NAN: unknown */
    COMPARE_VERDICT, /* text: "significant" or "noise"; NULL: unknown */
    COMPARE_COLUMNS
};
void compare_tables(const struct comparison *comparison, const char *key, struct table *result);
/* Returns the number of rows with a known probability. */
size_t compare_count_judged(const struct table *result);
/* Corrects the probabilities for the number of rows JUDGED,
 * sets the verdicts, and moves significant rows to the front. */
void compare_judge(struct table *result, size_t judged);
bool compare_is_significant(const struct table_row *row);

#endif
