/* SPDX-License-Identifier: BSD-2-Clause */
/* servers/fs/notify.h - signalling a client's notification; storage.c's folder has it with system calls in
 * notify.c, the host's tests have their own. */
#ifndef SERVERS_FS_NOTIFY_H
#define SERVERS_FS_NOTIFY_H

#include <stdint.h>

void notify_signal(uint32_t notification, uint64_t bits);
void notify_close(uint32_t notification);

#endif
