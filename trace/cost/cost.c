/* trace/cost/cost.c - minimum counts, means of ticks, and the measured trace points; see cost.h. */
#include <trace/cost/cost.h>
#include <trace/user.h>

#define ROUNDS (4 * COST_PHASES)

static uint64_t tenths_of(const struct cost *cost)
{
    return cost->ticks * 10000 / cost->rounds * 1000000 / arch_trace_info()->clock_hz;
}

uint64_t cost_by_clock(const struct cost *cost, const struct cost *nothing, uint32_t parts)
{
    return (tenths_of(cost) - tenths_of(nothing)) / parts;
}

/* One function each, so that operands are in registers. Aligned, so that none crosses a page boundary: QEMU
 * splits its blocks there, and some of its instruction counters miss a part. */
#define TIME(name, statement)                                                       \
    static __attribute__((noinline, aligned(512))) struct cost_reading time_##name( \
        uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint32_t round)             \
    {                                                                               \
        volatile struct cost_reading begin;                                         \
        cost_begin(&begin, round);                                                  \
        statement;                                                                  \
        return cost_since(&begin);                                                  \
    }
TIME(nothing, )
TIME(one_word, trace_user_stopwatch_start(a))
TIME(four_words, trace_user_values(a, b, c, d))

static struct cost cost_of(struct cost_reading (*time)(uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                                                       uint32_t round))
{
    struct cost cost = COST_UNKNOWN;
    for (uint32_t round = 0; round < ROUNDS; round++)
        cost_add(&cost, time(1, 2, 3, 4, round));
    return cost;
}

struct cost cost_of_nothing(void)
{
    return cost_of(time_nothing);
}

struct cost cost_of_one_word(void)
{
    return cost_of(time_one_word);
}

struct cost cost_of_four_words(void)
{
    return cost_of(time_four_words);
}
