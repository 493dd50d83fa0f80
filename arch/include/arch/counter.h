/* SPDX-License-Identifier: BSD-2-Clause */
/* arch/counter.h - the number of instructions that this CPU has executed, in kernel and programs. For
 * measurements: trace/cost/cost.h. */
#ifndef ARCH_COUNTER_H
#define ARCH_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

/* Counts up from any value, modulo 2^32. */
static inline uint32_t arch_instructions(void);
/* Whether the CPU counts instructions. False: there is only the clock, which ticks once per instruction under
 * QEMU's -icount and counts no instructions elsewhere. */
static inline bool arch_counts_instructions(void);

#include <port/counter.h>
#endif
