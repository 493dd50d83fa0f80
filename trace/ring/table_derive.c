/*
 * trace/ring/table_derive.c - values of rows; see table_derive.h. Freestanding.
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

#define INPUTS 4u

static const struct trace_derived {
    const char *name;
    enum trace_value_kind kind;
    const char *inputs[INPUTS]; /* names of columns, `ended` or `elapsed`; NULL: no more */
    uint64_t (*compute)(const uint64_t *const in[INPUTS]); /* `in` points to the inputs' words */
} all[] = {
    {"acquisitions_error", TRACE_VALUE_COUNT, {"variance"}, compute_error},
    {"spun", TRACE_VALUE_COUNT, {"contended", "blocked"}, compute_difference},
    {"spun_wait", TRACE_VALUE_TICKS, {"wait", "blocked_wait"}, compute_difference},
    {"contended_percent", TRACE_VALUE_PERCENT, {"contended", "acquisitions"}, compute_percent},
    {"wait_mean", TRACE_VALUE_TICKS, {"wait", "contended"}, compute_mean},
    {"hold_mean", TRACE_VALUE_TICKS, {"held", "holds"}, compute_mean},
    {"held_all", TRACE_VALUE_TICKS, {"held", "holds", "acquisitions"}, compute_total},
    {"held_all_error",
     TRACE_VALUE_TICKS,
     {"hold_times", "held_longest", "variance", "sampled"},
     compute_total_error},
    {"use_percent", TRACE_VALUE_PERCENT, {"held", "holds", "acquisitions", "elapsed"}, compute_use},
    {"between", TRACE_VALUE_TICKS, {"acquisitions", "elapsed"}, compute_between},
    {"mean", TRACE_VALUE_TICKS, {"ticks", "times"}, compute_mean},
    {"ran_percent", TRACE_VALUE_PERCENT, {"own", "routine", "elapsed"}, compute_ran},
    {"count", TRACE_VALUE_COUNT, {"ended", "own"}, compute_count},
    {"mean", TRACE_VALUE_TICKS, {"total", "ended"}, compute_mean},
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

static bool has_inputs(const struct trace_table_info *table, const struct trace_derived *derived)
{
    for (unsigned k = 0; k < INPUTS && derived->inputs[k]; k++)
        if (!find_input(table, derived->inputs[k]))
            return false;
    return true;
}

unsigned trace_table_values(const struct trace_table_info *table, struct trace_value list[TRACE_VALUES_MAX])
{
    static const uint8_t percents[] = {50, 90, 99, 100};
    unsigned count = 0;
    for (unsigned c = 0; c < table->column_count; c++) {
        const struct trace_column_info *column = &table->columns[c];
        const bool is_histogram = column->kind == TRACE_COLUMN_HISTOGRAM;
        for (unsigned i = 0; i < (is_histogram ? sizeof percents : 1); i++)
            list[count++] =
                (struct trace_value){.name = column->name,
                                     .kind = column->unit[0] == 't' ? TRACE_VALUE_TICKS : TRACE_VALUE_COUNT,
                                     .column = column,
                                     .percent = is_histogram ? percents[i] : 0};
    }
    for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (has_inputs(table, &all[i]))
            list[count++] =
                (struct trace_value){.name = all[i].name, .kind = all[i].kind, .derived = &all[i]};
    return count;
}
_Static_assert(sizeof(all) / sizeof(*all) <= TRACE_DERIVED_MAX, "no table has more");

static uint64_t bound_of(const uint64_t *histogram, unsigned percent)
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

uint64_t trace_value_of(const struct trace_value *value, const struct trace_table_info *table,
                        const uint64_t *row, uint64_t elapsed)
{
    const struct trace_derived *derived = value->derived;
    const uint64_t *in[INPUTS] = {0};
    if (value->percent)
        return bound_of(&row[value->column->word], value->percent);
    if (!derived)
        return row[value->column->word];
    for (unsigned k = 0; k < INPUTS && derived->inputs[k]; k++)
        in[k] = is_same_text(derived->inputs[k], "elapsed") ? &elapsed
                                                            : &row[find_input(table, derived->inputs[k])];
    return derived->compute(in);
}
