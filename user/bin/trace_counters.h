/* SPDX-License-Identifier: BSD-2-Clause */
/* trace_counters.h - the commands of `trace` about hardware counters. They return an exit status. */
#ifndef USER_BIN_TRACE_COUNTERS_H
#define USER_BIN_TRACE_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

/* Lists the CPU's counters, and to which slots they are bound. */
int list_counters(void);
/* `names` is a list separated by commas, or none. False: it is refused, and the reason is printed. */
bool parse_counters(const char *names, uint64_t *packed);
/* 1 + number of a counter. False: there is none of that name, and that is printed. */
bool parse_counter(const char *name, uint64_t *counter);

#endif
