/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/ring/table_derive.c - derived columns; see table_derive.h. Freestanding.
 *
 * Errors are twice the standard deviation: in 95 of 100 cases the truth is nearer. A sample of weight N
 * adds N (N - 1) to `variance`: the variance of the estimated sum if each acquisition is sampled with
 * probability 1 / N, also where N changed meanwhile. Hold times count with their squares, which the histogram
 * bounds.
 */
#include <stdbool.h>
#include <stddef.h>
#include <trace/format/routine.h>
#include <trace/ring/table_derive.h>

typedef unsigned __int128 wide;

static uint64_t clip(wide value)
{
    return value < TRACE_NO_VALUE ? (uint64_t)value : TRACE_NO_VALUE - 1;
}

static uint64_t ratio(wide value, uint64_t of)
{
    return of ? clip(value / of) : TRACE_NO_VALUE;
}

static uint64_t square_root(wide value)
{
    uint64_t root = 0;
    for (int bit = 63; bit >= 0; bit--) {
        const wide next = root | (wide)1 << bit;
        if (next * next <= value)
            root = (uint64_t)next;
    }
    return root;
}

/* ---- columns ---------------------------------------------------------------------------------------- */

static uint64_t compute_difference(const uint64_t *const in[])
{
    return *in[0] > *in[1] ? *in[0] - *in[1] : 0;
}

static uint64_t compute_mean(const uint64_t *const in[])
{
    return ratio(*in[0], *in[1]);
}

static uint64_t compute_percent(const uint64_t *const in[])
{
    return ratio((wide)*in[0] * 10000, *in[1]);
}

static uint64_t compute_error(const uint64_t *const in[])
{
    return square_root((wide)*in[0] * 4);
}

/* Estimated hold time of all acquisitions, of which some were measured. */
static uint64_t compute_total(const uint64_t *const in[])
{
    return ratio((wide)*in[0] * *in[2], *in[1]);
}

static uint64_t compute_total_error(const uint64_t *const in[])
{
    const uint64_t *histogram = in[0], longest = *in[1], variance = *in[2], sampled = *in[3];
    wide squares = 0;
    for (unsigned b = 0; b < TRACE_TABLE_BUCKETS; b++) {
        const uint64_t bound = (2ull << b) - 1;
        uint64_t most = bound < longest && b + 1 < TRACE_TABLE_BUCKETS ? bound : longest;
        most = most < UINT32_MAX ? most : UINT32_MAX; /* so that no sum overflows */
        squares += (wide)(most * most) * (histogram[b] & UINT32_MAX);
    }
    /* the root of the mean of N (N - 1), in 1/256 */
    const uint64_t factor = sampled ? square_root(((wide)variance << 16) / sampled) : 0;
    return sampled ? clip((wide)square_root(squares) * factor >> 7) : TRACE_NO_VALUE;
}

static uint64_t compute_use(const uint64_t *const in[])
{
    const uint64_t total = compute_total(in);
    return total == TRACE_NO_VALUE ? total : ratio((wide)total * 10000, *in[3]);
}

static uint64_t compute_between(const uint64_t *const in[])
{
    return *in[1] ? ratio(*in[1], *in[0]) : TRACE_NO_VALUE;
}

static uint64_t compute_count(const uint64_t *const in[])
{
    return *in[0];
}

/* Of the time on CPUs. Routines that lie beside the others, and waits, have none. */
static uint64_t compute_ran(const uint64_t *const in[])
{
    const enum trace_routine_kind kind = trace_routine_kind(*in[1]);
    return kind == TRACE_ROUTINE_OUT || kind == TRACE_ROUTINE_SERVED ? TRACE_NO_VALUE
                                                                     : ratio((wide)*in[0] * 10000, *in[2]);
}

static const struct trace_derived all[] = {
    {"acquisitions_error", TRACE_DERIVED_COUNT, {"variance"}, compute_error},
    {"spun", TRACE_DERIVED_COUNT, {"contended", "blocked"}, compute_difference},
    {"spun_wait", TRACE_DERIVED_TICKS, {"wait", "blocked_wait"}, compute_difference},
    {"contended_percent", TRACE_DERIVED_PERCENT, {"contended", "acquisitions"}, compute_percent},
    {"wait_mean", TRACE_DERIVED_TICKS, {"wait", "contended"}, compute_mean},
    {"hold_mean", TRACE_DERIVED_TICKS, {"held", "holds"}, compute_mean},
    {"held_all", TRACE_DERIVED_TICKS, {"held", "holds", "acquisitions"}, compute_total},
    {"held_all_error",
     TRACE_DERIVED_TICKS,
     {"hold_times", "held_longest", "variance", "sampled"},
     compute_total_error},
    {"use_percent", TRACE_DERIVED_PERCENT, {"held", "holds", "acquisitions", "elapsed"}, compute_use},
    {"between", TRACE_DERIVED_TICKS, {"acquisitions", "elapsed"}, compute_between},
    {"mean", TRACE_DERIVED_TICKS, {"ticks", "times"}, compute_mean},
    {"ran_percent", TRACE_DERIVED_PERCENT, {"own", "routine", "elapsed"}, compute_ran},
    {"count", TRACE_DERIVED_COUNT, {"ended", "own"}, compute_count},
    {"mean", TRACE_DERIVED_TICKS, {"total", "ended"}, compute_mean},
};

/* ---- tables ----------------------------------------------------------------------------------------- */

static bool is_same_text(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

/* The place of the column of that name, whose words are as many as the computation reads; 0: none. `elapsed`
 * is in no row. */
static uint32_t find_input(const struct trace_table_info *table, const char *name)
{
    const bool is_histogram = is_same_text(name, "hold_times");
    for (unsigned c = 0; c < table->column_count; c++)
        if (is_same_text(table->columns[c].name, name) &&
            (table->columns[c].kind == TRACE_COLUMN_HISTOGRAM) == is_histogram)
            return table->columns[c].word;
    return is_same_text(name, "ended") || is_same_text(name, "elapsed") ? table->row_words - 1 : 0;
}

unsigned trace_table_derived(const struct trace_table_info *table,
                             const struct trace_derived *list[TRACE_DERIVED_MAX])
{
    unsigned count = 0;
    for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++) {
        bool has_all = true;
        for (unsigned k = 0; k < TRACE_DERIVED_INPUTS && all[i].inputs[k]; k++)
            has_all = has_all && find_input(table, all[i].inputs[k]);
        if (has_all)
            list[count++] = &all[i];
    }
    return count;
}

uint64_t trace_derive(const struct trace_derived *derived, const struct trace_table_info *table,
                      const uint64_t *row, uint64_t elapsed)
{
    const uint64_t *in[TRACE_DERIVED_INPUTS] = {0};
    for (unsigned k = 0; k < TRACE_DERIVED_INPUTS && derived->inputs[k]; k++)
        in[k] = is_same_text(derived->inputs[k], "elapsed") ? &elapsed
                                                            : &row[find_input(table, derived->inputs[k])];
    return derived->compute(in);
}

uint64_t trace_histogram_bound(const uint64_t histogram[TRACE_TABLE_BUCKETS], unsigned percent)
{
    uint64_t total = 0, below = 0;
    for (unsigned b = 0; b < TRACE_TABLE_BUCKETS; b++)
        total += histogram[b];
    const uint64_t wanted = total / 100 * percent + (total % 100 * percent + 99) / 100;
    for (unsigned b = 0; total && b + 1 < TRACE_TABLE_BUCKETS; b++) {
        below += histogram[b];
        if (below >= wanted)
            return (2ull << b) - 1;
    }
    return TRACE_NO_VALUE;
}
