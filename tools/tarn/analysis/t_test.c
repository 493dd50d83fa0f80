/* t_test.c - Student's t-test; see t_test.h. */
#include <math.h>
#include <tools/tarn/analysis/t_test.h>

#define STEPS     200
#define PRECISION 1e-14
#define TINY      1e-300

static double not_zero(double value)
{
    return fabs(value) < TINY ? TINY : value;
}

/* The continued fraction of the incomplete beta function
 * (Abramowitz and Stegun 26.5.8), by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), result = d;
    for (int m = 1; m < STEPS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double step;
        d = 1 / not_zero(1 + even * d);
        c = not_zero(1 + even / c);
        result *= d * c;
        d = 1 / not_zero(1 + odd * d);
        c = not_zero(1 + odd / c);
        step = d * c;
        result *= step;
        if (fabs(step - 1) < PRECISION)
            break;
    }
    return result;
}

static double incomplete_beta(double a, double b, double x)
{
    double front;
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x));
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                     : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double chance_of(struct sample a, struct sample b)
{
    double freedom = a.count + b.count - 2.0, difference = fabs(a.mean - b.mean);
    double variance =
        ((a.count - 1) * a.deviation * a.deviation + (b.count - 1) * b.deviation * b.deviation) / freedom *
        (1.0 / a.count + 1.0 / b.count);
    double squared = difference * difference; /* t^2 = squared / variance */
    if (squared == 0)
        return 1;
    return incomplete_beta(freedom / 2, 0.5, freedom * variance / (freedom * variance + squared));
}
