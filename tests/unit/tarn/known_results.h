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
/* Writes TEXT, and MORE at the end of its metadata, and opens it as known_trace; the caller closes that. Ends
 * the program on failure. */
void open_known(const char *text, const char *more, const char *order);
/* With all tables; NULL: FAIL says why. OPTIONS are names and values by turns up to NULL. analysis_free. */
struct analysis *ask(const char *kind, const char *const *options, struct fail *fail);
const struct table *find_table(const struct analysis *analysis, const char *key);

#endif
