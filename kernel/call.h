/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/call.h - a function run by other processors, at their request of one.
 */
#ifndef KERNEL_CALL_H
#define KERNEL_CALL_H

#include <stdint.h>

/* Each processor of `targets` (bits; online, not this one) calls `function`; waits until all have. What was
 * stored before is seen there, what they stored is seen afterwards. The caller holds no lock: a target that
 * spins for one does not answer. The function takes none that a caller of this may spin for, and is called
 * with interrupts off, from an interrupt or while the target waits for a call of its own. */
void call_on_cpus(uint64_t targets, void (*function)(void *argument), void *argument);

void call_handle_requests(void); /* from IPI_CALL */

#endif
