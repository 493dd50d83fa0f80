/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/quiet.h - waits until no processor can hold a pointer that it found before.
 *
 * The kernel reads some pointers without a lock or reference, and may lock what they lead to (cap.h,
 * thread_lock_wait). It keeps them in registers and on the processor's stack only, never from one entry into
 * the kernel to the next. So a processor that is seen outside the kernel - its timer interrupts a program or
 * its sleep - holds none of those that it found before. When all processors have been seen so, memory that
 * was out of reach before may become something else. This is epoch-based reclamation (Fraser, 2004).
 */
#ifndef KERNEL_QUIET_H
#define KERNEL_QUIET_H

#include <stdbool.h>
#include <stdint.h>

/* Now, for quiet_since. Take it when the memory is out of reach, still in the same kernel entry. */
uint64_t quiet_stamp(void);
bool quiet_since(uint64_t stamp); /* every processor has been outside the kernel since */
void quiet_report(void);          /* this processor is: by its heartbeat, some times a second */

#endif
