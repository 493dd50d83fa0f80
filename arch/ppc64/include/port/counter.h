/*
 * port/counter.h (ppc64) - PMC5 counts completed instructions and PMC6 cycles, in all modes while MMCR0 is 0.
 * Programs read them under other numbers.
 */
#pragma once

#ifdef TARN_KERNEL
#define PORT_PMC5 "791"
#define PORT_PMC6 "792"
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

#ifdef TARN_KERNEL
enum { PORT_COUNTER_INSTRUCTIONS, PORT_COUNTER_CYCLES };

static inline uint64_t arch_counter_read(uint32_t number)
{
    uint64_t count;
    if (number == PORT_COUNTER_INSTRUCTIONS)
        return arch_instructions();
    __asm__ volatile("isync\n\tmfspr %0, " PORT_PMC6 : "=r"(count) : : "memory");
    return (uint32_t)count;
}
#endif
