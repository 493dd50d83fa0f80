/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/compiler_calls.c - functions that GCC calls for what the CPU has no instruction for, for the
 * kernel and for programs (libc-glue/build.mk). libgcc has them too, but where a cross compiler's libgcc is
 * of another ABI than ours (powerpc64) it must not be linked; so no port links it. None is on a fast path; a
 * program that needs one more of them gets a link error that names it.
 */
#include <stdint.h>

typedef unsigned __int128 uint128_t;

uint128_t __udivti3(uint128_t dividend, uint128_t divisor);
int __popcountdi2(int64_t value);

/* Bit by bit, as on paper. A division by zero gives all ones. */
uint128_t __udivti3(uint128_t dividend, uint128_t divisor)
{
    uint128_t quotient = 0, rest = 0;
    for (int bit = 127; bit >= 0; bit--) {
        rest = rest << 1 | (dividend >> bit & 1);
        if (rest >= divisor) {
            rest -= divisor;
            quotient |= (uint128_t)1 << bit;
        }
    }
    return quotient;
}

int __popcountdi2(int64_t value)
{
    int count = 0;
    for (uint64_t left = (uint64_t)value; left; left &= left - 1)
        count++;
    return count;
}
