/* SPDX-License-Identifier: BSD-2-Clause */
/* port/counter.h (ppc64) - PMC5 counts completed instructions, in all modes while MMCR0 is 0; programs read
 * it under another number. */
#ifndef PORT_COUNTER_H
#define PORT_COUNTER_H

#ifdef TARN_KERNEL
#define PORT_PMC5 "791"
#else
#define PORT_PMC5 "775"
#endif

static inline __attribute__((always_inline)) uint32_t arch_instructions(void)
{
    uint64_t count;
    __asm__ volatile("isync\n\tmfspr %0, " PORT_PMC5 : "=r"(count) : : "memory");
    return (uint32_t)count;
}

static inline bool arch_counts_instructions(void)
{
    return true;
}

#endif
