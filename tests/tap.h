/*
 * tests/tap.h - tests say what they found in TAP (tests/README.md), on the host and in the guest. All files
 * of a program may include it; they count together. One thread calls it.
 *
 *     int main(void) { check(1 + 1 == 2, "sums of %s", "numbers"); return finish_tests(); }
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((weak)) unsigned tests_run, tests_failed; /* weak: the same in all files */

/* One line: the text, made as by printf, or the condition if there is no text. */
#define check(condition, ...) check_condition((condition), __FILE__, __LINE__, #condition, " " __VA_ARGS__)

static inline void __attribute__((format(printf, 5, 6)))
check_condition(bool ok, const char *file, int line, const char *condition, const char *format, ...)
{
    va_list values;
    tests_failed += !ok;
    printf("%sok %u -", ok ? "" : "not ", ++tests_run);
    va_start(values, format);
    vprintf(format, values);
    va_end(values);
    printf("%s\n", format[1] == '\0' ? condition : "");
    if (!ok)
        printf("# failed at %s:%d\n", file, line);
    fflush(stdout); /* also if the test dies later */
}

/* The plan; the program's exit status. */
static inline int finish_tests(void)
{
    printf("1..%u\n", tests_run);
    fflush(stdout);
    return tests_failed != 0;
}
