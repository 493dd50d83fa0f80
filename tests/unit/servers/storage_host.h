/* SPDX-License-Identifier: BSD-2-Clause */
/* storage_host.h - what tests set and read in storage_host.c. */
#ifndef SERVERS_FS_TEST_STORAGE_HOST_H
#define SERVERS_FS_TEST_STORAGE_HOST_H

#include <stdint.h>

extern uint64_t storage_limit; /* writes beyond this total fail with ENOSPC */
unsigned storage_live(void);   /* number of memory objects */

#endif
