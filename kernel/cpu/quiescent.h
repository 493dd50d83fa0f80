/*
 * quiescent.h - detects when no CPU can still hold a pointer that it found earlier.
 *
 * The kernel reads some pointers without a lock or reference, and may lock the objects (cap_table.h,
 * thread_lock_wait). It keeps them in registers and on the CPU's stack only, never from one kernel entry to
 * the next. So a CPU whose timer interrupts a program or its sleep holds none that it found before. When all
 * CPUs have been seen like that, memory that was unreachable before may be reused for anything. This is
 * epoch-based reclamation (Fraser, 2004).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* For quiescent_since. Take it when the memory is unreachable, in the same kernel entry. */
uint64_t quiescent_stamp(void);
bool quiescent_since(uint64_t stamp); /* whether every CPU has been outside the kernel since then */
void quiescent_report(void); /* this CPU is outside the kernel; from its heartbeat, several times a second */
