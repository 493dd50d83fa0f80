/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/tap.h - host tests say what they found in TAP (tests/README.md). One program includes it in one file
 * and calls it from one thread.
 *
 *     int main(void) { tell(1 + 1 == 2, "sums"); return finish_tests(); }
 */
#ifndef TESTS_TAP_H
#define TESTS_TAP_H

#include <stdbool.h>
#include <stdio.h>

static unsigned tests_run, tests_failed;

/* One line for WHAT. */
static inline void tell(bool fine, const char *what)
{
    tests_failed += !fine;
    printf("%sok %u - %s\n", fine ? "" : "not ", ++tests_run, what);
}

/* The plan; the program's exit status. */
static inline int finish_tests(void)
{
    printf("1..%u\n", tests_run);
    return tests_failed != 0;
}

#endif
