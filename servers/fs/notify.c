/* SPDX-License-Identifier: BSD-2-Clause */
/* notify.c - signals notifications of clients that poll. */
#include "notify.h"
#include <tarn/syscall.h>

void notify_signal(uint32_t notification, uint64_t bits)
{
    sys_notification_signal(notification, bits);
}

void notify_close(uint32_t notification)
{
    sys_cap_close(notification);
}
