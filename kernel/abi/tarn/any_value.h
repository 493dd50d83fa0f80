/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tarn/any_value.h - for a register that goes into the kernel and that nobody looks at there: whatever it
 * holds.
 *
 * Costs no instruction. Volatile, lest the compiler take two of them for one value, and copy it.
 */
#ifndef TARN_ANY_VALUE_H
#define TARN_ANY_VALUE_H

#include <stdint.h>

static inline __attribute__((always_inline)) uint64_t any_value(void)
{
    uint64_t value;
    __asm__ volatile("" : "=r"(value));
    return value;
}

#endif
