/* SPDX-License-Identifier: BSD-2-Clause */
/* memory_host.h - what tests set and read in memory_host.c. */
#ifndef SERVERS_TEST_MEMORY_HOST_H
#define SERVERS_TEST_MEMORY_HOST_H

#include <stdint.h>

extern uint64_t memory_limit; /* no page frames for what lies beyond, in each object */
unsigned memory_live(void);   /* number of capabilities of memory objects */

#endif
