/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libc-glue/math/exact.c - functions of libm whose result is exact where it can be.
 *
 * newlib computes log2(x) as log(x) / ln 2, which misses 441 of the 2,098 powers of two, and its cbrtf misses
 * a third of the cubes. These are linked before newlib's; <math.h> of libc-glue takes away newlib's macro.
 */
#include <math.h>

/* x = m * 2^exponent, m between the roots of 1/2 and of 2: the logarithm of m is small beside an exponent
 * that is not 0, and exactly 0 for a power of two. */
double log2(double x)
{
    int exponent;
    if (!(x > 0) || isinf(x))
        return log(x); /* the same results and errors */
    double m = frexp(x, &exponent);
    if (m < M_SQRT1_2) {
        m *= 2;
        exponent--;
    }
    return exponent + log(m) * M_LOG2E;
}

/* A double has so many bits more that one rounding is left. */
float log2f(float x)
{
    return (float)log2(x);
}

float cbrtf(float x)
{
    return (float)cbrt(x);
}
