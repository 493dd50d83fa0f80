/*
 * compiler_calls.c - functions that GCC calls where the CPU has no instruction, for the kernel and programs
 * (libc-glue/build.mk).
 *
 * A cross compiler's libgcc may have another ABI than ours (powerpc64), so no port links libgcc. None of
 * these is on a fast path. If a program needs another one, the linker names it.
 */
#include <stdint.h>

typedef unsigned __int128 uint128_t;

uint128_t __udivti3(uint128_t dividend, uint128_t divisor);
int __popcountdi2(int64_t value);

/* Long division, bit by bit. A division by zero gives all ones. */
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
