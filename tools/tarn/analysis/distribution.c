/* distribution.c - log-linear histograms, and the t-test; see distribution.h. */
#include <math.h>
#include <stdio.h>
#include <tools/tarn/analysis/distribution.h>

#define HISTOGRAM_ROWS 24u /* at most twice as many */

/* Values below DISTRIBUTION_PARTS are power 0, with one bucket each. */
static unsigned power_of(uint64_t value)
{
    return value < DISTRIBUTION_PARTS ? 0 : 64u - (unsigned)__builtin_clzll(value) - DISTRIBUTION_SHIFT;
}

/* Returns a bucket's index among all possible ones: power * DISTRIBUTION_PARTS + part. */
static unsigned bucket_of(uint64_t value)
{
    unsigned power = power_of(value);
    return power * DISTRIBUTION_PARTS +
           (unsigned)(power ? (value >> (power - 1)) - DISTRIBUTION_PARTS : value);
}

/* Returns the smallest value of a bucket; for one past the last bucket, the upper bound. */
static uint64_t bucket_begin(unsigned bucket)
{
    unsigned power = bucket / DISTRIBUTION_PARTS, part = bucket % DISTRIBUTION_PARTS;
    if (power > 64 - DISTRIBUTION_SHIFT)
        return UINT64_MAX;
    return power == 0 ? part : (uint64_t)(DISTRIBUTION_PARTS + part) << (power - 1);
}

static void cover_powers(struct distribution *distribution, struct arena *arena, unsigned low, unsigned high)
{
    unsigned first = distribution->first, end = first + distribution->powers;
    uint64_t *buckets;
    if (distribution->powers != 0 && low >= first && high < end)
        return;
    if (distribution->powers != 0) {
        low = low < first ? low : first;
        high = high >= end ? high : end - 1;
    }
    buckets = arena_alloc(arena, (high - low + 1) * DISTRIBUTION_PARTS * sizeof(buckets[0]));
    if (distribution->powers != 0)
        memcpy(buckets + (first - low) * DISTRIBUTION_PARTS, distribution->buckets,
               distribution->powers * DISTRIBUTION_PARTS * sizeof(buckets[0]));
    distribution->buckets = buckets;
    distribution->first = (uint8_t)low;
    distribution->powers = (uint8_t)(high - low + 1);
}

static uint64_t *counter_of(const struct distribution *distribution, unsigned bucket)
{
    return &distribution->buckets[bucket - distribution->first * DISTRIBUTION_PARTS];
}

void distribution_add_many(struct distribution *distribution, struct arena *arena, uint64_t value,
                           uint64_t times)
{
    unsigned bucket = bucket_of(value), power = bucket / DISTRIBUTION_PARTS;
    if (__builtin_expect(power - distribution->first >= distribution->powers, 0))
        cover_powers(distribution, arena, power, power);
    *counter_of(distribution, bucket) += times;
    if (distribution->count == 0 || value < distribution->min)
        distribution->min = value;
    if (value > distribution->max)
        distribution->max = value;
    distribution->count += times;
    distribution->total += value * times;
}

void distribution_merge(struct distribution *into, struct arena *arena, const struct distribution *from)
{
    if (from->count == 0)
        return;
    cover_powers(into, arena, from->first, from->first + from->powers - 1u);
    for (unsigned i = 0; i < from->powers * DISTRIBUTION_PARTS; i++)
        *counter_of(into, from->first * DISTRIBUTION_PARTS + i) += from->buckets[i];
    if (into->count == 0 || from->min < into->min)
        into->min = from->min;
    if (from->max > into->max)
        into->max = from->max;
    into->count += from->count;
    into->total += from->total;
}

uint64_t distribution_percentile(const struct distribution *distribution, double part)
{
    uint64_t wanted = (uint64_t)ceil(part * (double)distribution->count), seen = 0, value;
    unsigned i = 0, bucket;
    if (distribution->count == 0)
        return 0;
    while (i + 1 < distribution->powers * DISTRIBUTION_PARTS && (seen += distribution->buckets[i]) < wanted)
        i++;
    bucket = distribution->first * DISTRIBUTION_PARTS + i;
    value = bucket_begin(bucket) + (bucket_begin(bucket + 1) - 1 - bucket_begin(bucket)) / 2;
    return sooner(later(value, distribution->min), distribution->max);
}

const struct table_column histogram_columns[6] = {COLUMN_CALLED("", "from_ns", COLUMN_TIME, SUM_SMALLEST),
                                                  COLUMN_CALLED("", "to_ns", COLUMN_TIME, SUM_LARGEST),
                                                  COUNT_COLUMN("count"),
                                                  REAL_COLUMN("percent"),
                                                  MEAN_COLUMN("percent_up_to"),
                                                  BAR_COLUMN};

static void format_range(char text[80], uint64_t from, uint64_t to)
{
    double unit = to < 1000000 ? 1e3 : to < 1000000000 ? 1e6 : 1e9;
    snprintf(text, 80, "%.3f - %.3f %s", (double)from / unit, (double)to / unit,
             to < 1000000      ? "us"
             : to < 1000000000 ? "ms"
                               : "s");
}

bool histogram_row(const struct distribution *distribution, const struct schema *schema, unsigned number,
                   struct histogram_row *row)
{
    unsigned first = bucket_of(distribution->min), last = bucket_of(distribution->max);
    unsigned step = 1, at; /* step: buckets per row: a power of two, or a part of one if values are close */
    while (step < DISTRIBUTION_PARTS && (last - first) / step > HISTOGRAM_ROWS)
        step *= 2;
    at = (first / step + number) * step;
    if (distribution->count == 0 || at > last)
        return false;
    *row = (struct histogram_row){.from = ticks_to_ns(schema, bucket_begin(at)),
                                  .to = ticks_to_ns(schema, bucket_begin(at + step)),
                                  .up_to = number > 0 ? row->up_to : 0};
    for (unsigned bucket = at; bucket < at + step; bucket++)
        if (bucket >= first && bucket <= last)
            row->count += *counter_of(distribution, bucket);
    row->up_to += row->count;
    format_range(row->name, row->from, row->to);
    return true;
}

#define STEPS     200
#define PRECISION 1e-14
#define TINY      1e-300

static double not_zero(double value)
{
    return fabs(value) < TINY ? TINY : value;
}

/* The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by Lentz's method.
 */
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
