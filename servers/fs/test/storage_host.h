/* SPDX-License-Identifier: BSD-2-Clause */
/* servers/fs/test/storage_host.h - what tests ask of storage_host.c. */
#ifndef SERVERS_FS_TEST_STORAGE_HOST_H
#define SERVERS_FS_TEST_STORAGE_HOST_H

#include <stdint.h>

extern uint64_t storage_limit;                 /* writes beyond fail with ENOSPC */
extern unsigned notify_signals, notify_closed; /* calls so far */
unsigned storage_live(void);                   /* memory objects that exist */

#endif
