/* SPDX-License-Identifier: BSD-2-Clause */
/* user/bin/trace_list.h - what `trace` prints of the events that the buffers hold. Both return an exit
 * status. */
#ifndef USER_BIN_TRACE_LIST_H
#define USER_BIN_TRACE_LIST_H

#include <stdint.h>

int print_counts(void); /* events and words, by class and event */
int print_last(uint64_t count,
               uint64_t classes); /* the last events of the classes in a mask, in order of time */

#endif
