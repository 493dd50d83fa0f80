/* SPDX-License-Identifier: BSD-2-Clause */
/* fault.h - asks pagers and fault handlers, or kills the faulting thread. */
#ifndef KERNEL_FAULT_H
#define KERNEL_FAULT_H

#include <kernel/space/space.h>
#include <stdint.h>

/* The current thread waits for its pager. `request` is from a space_fault that returned FAULT_ASK_PAGER;
 * drops its reference. `direct`: try ipc_send_fault_fast first. False: the pager is dead. */
bool fault_ask_pager(const struct fault_request *request, uint64_t since, bool direct);

#endif
