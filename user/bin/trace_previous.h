/* SPDX-License-Identifier: BSD-2-Clause */
/* user/bin/trace_previous.h - `trace previous`: what the system before a reset logged last. */
#ifndef USER_BIN_TRACE_PREVIOUS_H
#define USER_BIN_TRACE_PREVIOUS_H

#include <stdint.h>

/* Both return an exit status. */
int open_previous(void); /* says how that system ended; from here on events have the names they had there */
int print_previous(uint64_t count, uint64_t classes);

#endif
