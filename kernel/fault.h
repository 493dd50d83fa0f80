/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/fault.h - what a fault costs the thread: a message to whoever can deal with it, or its life.
 */
#ifndef KERNEL_FAULT_H
#define KERNEL_FAULT_H

#include <kernel/space.h>
#include <stdint.h>

/* The current thread waits for its pager; `request` was answered with FAULT_ASK_PAGER, whose reference is
 * given up here. `direct`: as in ipc_send_fault. False: the pager is dead. */
bool fault_ask_pager(const struct fault_request *request, uint64_t since, bool direct);

#endif
