/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch/counter.h - how many instructions this processor has executed, in kernel and programs alike. For
 * measurements: trace/event/cost.h.
 */
#ifndef ARCH_COUNTER_H
#define ARCH_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

/* Counts up from anywhere, modulo 2^32, the kernel's instructions and programs' alike. */
static inline uint32_t arch_instructions(void);
/* The processor counts instructions by itself. False: there is only the clock, which ticks once an
 * instruction under QEMU's -icount, and means nothing of the kind elsewhere. */
static inline bool arch_counts_instructions(void);

#include <port/counter.h>
#endif
