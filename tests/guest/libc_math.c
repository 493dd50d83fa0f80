/* SPDX-License-Identifier: BSD-2-Clause */
/* libc_math.c - results of libm are exact where the type can represent them. */
#include "tap.h"

#include <errno.h>
#include <math.h>

/* Function pointers, so that neither macros nor the compiler replace the calls. */
static double (*volatile take_log2)(double) = log2;
static float (*volatile take_log2f)(float) = log2f;

static void test_powers_of_two(void)
{
    int log_wrong = 0, float_wrong = 0, exp_wrong = 0, pow_wrong = 0;
    for (int i = -1074; i < 1024; i++) { /* including subnormal ones */
        volatile double x = ldexp(1, i);
        log_wrong += log2(x) != i || take_log2(x) != i;
        exp_wrong += exp2(i) != x;
        pow_wrong += pow(2, i) != x;
    }
    for (int i = -149; i < 128; i++) {
        volatile float x = ldexpf(1, i);
        float_wrong += take_log2f(x) != (float)i || exp2f((float)i) != x || powf(2, (float)i) != x;
    }
    printf("# wrong: log2 %d, exp2 %d, pow %d, float %d\n", log_wrong, exp_wrong, pow_wrong, float_wrong);
    check(log_wrong == 0, "log2 of all powers of two");
    check(exp_wrong == 0 && pow_wrong == 0, "exp2 and pow give all powers of two");
    check(float_wrong == 0, "log2f, exp2f, powf");
}

static void test_powers(void)
{
    int ten_wrong = 0, pow_wrong = 0;
    volatile double ten = 1;
    for (int i = 0; i <= 22; i++, ten = ten * 10)
        ten_wrong += log10(ten) != i || pow(10, i) != ten || (i <= 10 && log10f((float)ten) != (float)i);
    for (int base = 3; base < 300; base++) {
        double product = 1;
        for (int i = 0; product * base < 0x1p53; i++, product *= base)
            pow_wrong += pow(base, i) != product;
    }
    check(ten_wrong == 0, "log10 and pow of powers of ten");
    check(pow_wrong == 0, "pow of small whole numbers");
}

static void test_roots(void)
{
    int wrong = 0;
    for (int i = -5000; i <= 5000; i++)
        wrong += cbrt((double)i * i * i) != i || sqrt((double)i * i) != fabs(i);
    for (int i = -255; i <= 255; i++)
        wrong += cbrtf((float)(i * i * i)) != (float)i || sqrtf((float)(i * i)) != (float)fabs(i);
    for (int i = 1; i < 100; i++)
        wrong +=
            hypot(3 * i, 4 * i) != 5 * i || hypotf(5.0f * (float)i, 12.0f * (float)i) != 13.0f * (float)i;
    check(wrong == 0, "roots of squares and cubes");
}

/* Other results are close: at most two units in the last place from the one computed by log. */
static void test_near(void)
{
    int wrong = 0;
    for (double x = 0x1p-1070; x < 0x1p1020; x *= 1.37) {
        double expected = log(x) / M_LN2;
        wrong += fabs(log2(x) - expected) > 4 * 0x1p-53 * fabs(expected);
    }
    check(wrong == 0, "log2 of other numbers");
    errno = 0;
    check(take_log2(0) == -HUGE_VAL && errno == ERANGE, "log2(0)");
    errno = 0;
    check(isnan(take_log2(-1)) && errno == EDOM, "log2(-1)");
    check(isinf(take_log2(INFINITY)) && isnan(take_log2(NAN)) && isnan(take_log2f(NAN)),
          "log2 of infinity and NaN");
}

int main(void)
{
    test_powers_of_two();
    test_powers();
    test_roots();
    test_near();
    return finish_tests();
}
