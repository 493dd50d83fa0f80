/* SPDX-License-Identifier: BSD-2-Clause */
/* tap.h - a minimal test framework: check(condition), and the plan at the end. */
#ifndef SERVERS_LIB_TEST_TAP_H
#define SERVERS_LIB_TEST_TAP_H

#include <stdio.h>

static int tap_count, tap_failed;

#define check(condition)                                                                                 \
    do {                                                                                                 \
        int good = !!(condition);                                                                        \
        tap_failed += !good;                                                                             \
        printf("%sok %d - %s:%d %s\n", good ? "" : "not ", ++tap_count, __FILE__, __LINE__, #condition); \
    } while (0)

static inline int tap_end(void)
{
    printf("1..%d\n", tap_count);
    return tap_failed != 0;
}

#endif
