/* SPDX-License-Identifier: BSD-2-Clause */
/* trace_previous.h - `trace previous`: the last events of the previous boot. */
#ifndef USER_BIN_TRACE_PREVIOUS_H
#define USER_BIN_TRACE_PREVIOUS_H

#include <stdint.h>

/* Both return an exit status. */
int open_previous(void); /* prints how that boot ended; from then on events have the names of that boot */
int print_previous(uint64_t count, uint64_t classes);

#endif
