/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tap.h - prints the results of tests in the guest as TAP; see tests/README.md.
 *
 *     int main(void) { CHECK(1 + 1 == 2, "sums"); return finish_tests(); }
 */
#ifndef USER_TEST_TAP_H
#define USER_TEST_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

/* Rounds of a test. With the exploring kernel a round takes longer, and fewer are enough: threads meet more
 * often. */
#ifdef TARN_EXPLORE
#define REPEATS(count) ((count) / 20)
#else
#define REPEATS(count) (count)
#endif

static int tests_run, tests_failed;

/* Prints one line for the condition. Not thread-safe. */
static inline void check_condition(bool ok, const char *file, int line, const char *what)
{
    tests_run++;
    tests_failed += !ok;
    printf("%sok %d - %s\n", ok ? "" : "not ", tests_run, what);
    if (!ok)
        printf("# failed at %s:%d\n", file, line);
    fflush(stdout);
}
#define CHECK(condition, what) check_condition((condition), __FILE__, __LINE__, (what))

static inline int finish_tests(void)
{
    printf("1..%d\n", tests_run);
    fflush(stdout);
    return tests_failed ? 1 : 0;
}

#endif
