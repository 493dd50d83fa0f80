/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quiet.h - detects when no CPU can still hold a pointer that it found earlier.
 *
 * The kernel reads some pointers without a lock or reference, and may lock what they point to (cap.h,
 * thread_lock_wait). It keeps them only in registers and on the CPU's stack, never from one kernel entry to
 * the next. So a CPU seen outside the kernel, when its timer interrupts a program or its sleep, holds none
 * of the pointers that it found before. When every CPU has been seen there, memory that was unreachable
 * before may be used for something else. This is epoch-based reclamation (Fraser, 2004).
 */
#ifndef KERNEL_QUIET_H
#define KERNEL_QUIET_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the current time for quiet_since. Call it when the memory is unreachable, in the same kernel
 * entry. */
uint64_t quiet_stamp(void);
bool quiet_since(uint64_t stamp); /* whether every CPU has been outside the kernel since then */
void quiet_report(void); /* this CPU is outside the kernel; called by its heartbeat, several times a second */

#endif
