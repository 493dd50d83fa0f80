/*
 * any_value.h - an undefined register value, for a message word that nobody reads.
 *
 * Costs no instruction. Volatile, or the compiler might treat two of these as the same value, and copy it.
 */
#pragma once

#include <stdint.h>

static inline __attribute__((always_inline)) uint64_t any_value(void)
{
    uint64_t value;
    __asm__ volatile("" : "=r"(value));
    return value;
}
