/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/tap.h - host tests say what they found in TAP (tests/README.md). All files of a program may include
 * it; they count together. One thread calls it.
 *
 *     int main(void) { tell(1 + 1 == 2, "sums"); return finish_tests(); }
 */
#ifndef TESTS_TAP_H
#define TESTS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

__attribute__((weak)) unsigned tests_run, tests_failed; /* weak: the same in all files */

/* One line for WHAT. */
static inline void tell(bool fine, const char *what)
{
    tests_failed += !fine;
    printf("%sok %u - %s\n", fine ? "" : "not ", ++tests_run, what);
}

static inline void __attribute__((format(printf, 2, 3))) tell_about(bool fine, const char *format, ...)
{
    char text[256];
    va_list values;

    va_start(values, format);
    vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    tell(fine, text);
}

/* The plan; the program's exit status. */
static inline int finish_tests(void)
{
    printf("1..%u\n", tests_run);
    return tests_failed != 0;
}

#endif
