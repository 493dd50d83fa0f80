/* SPDX-License-Identifier: BSD-2-Clause */
/* notify.h - signals a client's notification. notify.c does
 * it by system calls; host tests have their own version. */
#ifndef SERVERS_FS_NOTIFY_H
#define SERVERS_FS_NOTIFY_H

#include <stdint.h>

void notify_signal(uint32_t notification, uint64_t bits);
void notify_close(uint32_t notification);

#endif
