/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/tarn/known_results.h - for tests that ask tarn about traces written by hand (trace_text.h), in
 * both byte orders and with two clocks.
 */
#ifndef TESTS_KNOWN_RESULTS_H
#define TESTS_KNOWN_RESULTS_H

#include <inttypes.h>
#include <tests/tap.h>
#include <tests/unit/tarn/trace_text.h>
#include <tools/tarn/analysis/analysis.h>

extern struct trace known_trace; /* that is open */
extern char known_directory[64]; /* where it is */
extern uint64_t tick_ns;         /* of it, nanoseconds */

/* Runs TEST with "le" and with "be"; returns main's result. */
int test_both_orders(void (*test)(const char *order));
/* Writes TEXT and opens it as known_trace; the caller closes that. Ends the program on failure. */
void open_known(const char *text, const char *order);

/* Options are names and values by turns up to NULL. A filter's have a +, as in "+tid". */
#define OPTIONS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NO_OPTIONS   ((const char *const[]){NULL})

/* With all tables; NULL: FAIL says why. FILTER is what they were resolved to. analysis_free. */
struct analysis *ask(const char *kind, const char *const *options, struct filter *filter, struct fail *fail);
const struct table *find_table(const struct analysis *analysis, const char *key);

/* "TABLE ROW COLUMN" has the VALUE; that of a column of times is in ticks. Blanks in names are written ~; a
 * row may be told apart from others of its name by the number in its first column: sh/20. */
struct expected {
    const char *what;
    double value;
};
#define EXPECT_NO_ROW (-1e9) /* nor table, nor column */
#define EXPECT_NONE   (-1.)  /* a cell without value */

/* EXPECTED ends with NULL. */
void expect(const char *kind, const char *const *options, const struct expected *expected);
#define EXPECT(kind, options, ...) expect(kind, options, (const struct expected[]){__VA_ARGS__, {NULL, 0}})
void expect_text(const char *kind, const char *const *options, const char *what, const char *expected);

#endif
