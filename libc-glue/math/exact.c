/*
 * exact.c - functions of libm that return the exact result where a float or double can hold it.
 *
 * newlib computes log2(x) as log(x) / ln 2, which is wrong for 441 of the 2,098 powers of two; its cbrtf is
 * wrong for a third of the cubes. These versions are linked before newlib's; libc-glue's <math.h> removes
 * newlib's macro for log2.
 */
#include <math.h>

/* x = m * 2^exponent with m between sqrt(1/2) and sqrt(2). The logarithm of m is small relative to a nonzero
 * exponent, and exactly 0 for a power of two. */
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

/* A double has enough additional bits that only one rounding matters. */
float log2f(float x)
{
    return (float)log2(x);
}

float cbrtf(float x)
{
    return (float)cbrt(x);
}
