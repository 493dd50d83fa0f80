/*
 * arch/counter.h - hardware counters.
 *
 * The first two functions are for measurements in kernel and programs (trace/cost/cost.h). The rest is the
 * kernel's (kernel/diagnosis/counters.h): the counters that this CPU has, by name, and their values. All CPUs
 * of a machine have the same. Each CPU counts what it executes itself, in kernel and programs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The number of instructions that this CPU has executed. Counts up from any value, modulo 2^32. */
static inline uint32_t arch_instructions(void);
/* Whether the CPU counts instructions. False: there is only the clock, which ticks once per instruction under
 * QEMU's -icount and counts no instructions elsewhere. */
static inline bool arch_counts_instructions(void);

#ifdef TARN_KERNEL
#define ARCH_COUNTERS_MAX 16u /* that a CPU may have */
#define ARCH_COUNTED_MAX  5u  /* that count at a time */

struct arch_counter {
    const char *name; /* at most 23 characters */
    uint32_t bits;    /* it counts modulo 2^bits; 1 to 64 */
};

/* Returns how many counters this machine has, and the first. 0: *missing says why, in words that end a
 * sentence. Each returns the same at every call. */
uint32_t arch_counters(const struct arch_counter **first, const char **missing);
/* Counts counters[0] to [count - 1], which are indices of arch_counters(), on this CPU from now on, and
 * writes the register of each. Equal indices share a register. */
void arch_counters_start(const uint8_t *counters, uint32_t count, uint32_t *registers);
/* The value of a register that arch_counters_start gave on this CPU, with `bits` bits. */
static inline uint64_t arch_counter_read(uint32_t number);
#endif

#include <port/counter.h>
