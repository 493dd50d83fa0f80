/* SPDX-License-Identifier: BSD-2-Clause */
/* trace_previous.h - `trace previous`: the last events of the previous boot, and access to its tables. */
#ifndef USER_BIN_TRACE_PREVIOUS_H
#define USER_BIN_TRACE_PREVIOUS_H

#include <stdint.h>
#include <trace/event/previous.h>

/* Those that return a number return an exit status. */
int open_previous(void); /* prints how that boot ended; from then on events have the names of that boot */
const struct trace_previous *opened_previous(void); /* after that */
int print_previous(uint64_t count, uint64_t classes);

#endif
