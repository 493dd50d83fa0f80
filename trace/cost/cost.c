/* trace/cost/cost.c - minimum counts, means of ticks, the measured trace points, dummies; see cost.h. */
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

/* ---- the cost of logging an event ---- */

#ifdef TARN_KERNEL
#define SAMPLE     32u
#define SAMPLES    15u
#define FIRST_WORD 16u /* of an event in the ring */

static __attribute__((noinline, aligned(32))) void log_nothing(TRACE_DUMMY_PARAMETERS)
{
    __asm__ volatile("");
}

struct sample {
    uint64_t ticks, instructions; /* of SAMPLE calls */
};

static struct sample take_sample(trace_dummy_function *log, struct trace_control *scratch, uint32_t round)
{
    static const uint64_t words[TRACE_DUMMY_WORDS];
    volatile struct cost_reading begin;
    uint64_t *index = &scratch->index;
    scratch->time_limit = trace_time_limit(arch_trace_clock());
    cost_begin(&begin, round * 8);
    for (uint32_t i = 0; i < SAMPLE; i++) {
        *(volatile uint64_t *)index = trace_index_at(FIRST_WORD, 0);
        log(1, 2, 3, 4, "dummy of a name", words);
    }
    struct cost_reading passed = cost_since(&begin);
    return (struct sample){passed.ticks, passed.instructions};
}

static void insert(uint64_t *sorted, uint32_t count, uint64_t value)
{
    for (; count > 0 && sorted[count - 1] > value; count--)
        sorted[count] = sorted[count - 1];
    sorted[count] = value;
}

struct samples {
    uint64_t ticks[SAMPLES], instructions[SAMPLES]; /* sorted */
};

/* Whether the last call logged. */
static bool take_samples(struct samples *samples, trace_dummy_function *log, struct trace_control *scratch)
{
    scratch->bound = TRACE_INDEX_CLOSED - 1;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        struct sample sample = take_sample(log, scratch, i);
        insert(samples->ticks, i, sample.ticks);
        insert(samples->instructions, i, sample.instructions);
    }
    return scratch->index != trace_index_at(FIRST_WORD, 0);
}

static uint32_t thousandths(uint64_t all, uint64_t nothing)
{
    return all > nothing ? (uint32_t)((all - nothing) * 1000 / SAMPLE) : 0;
}

bool trace_measure(struct trace_figures *figures, trace_dummy_function *log, struct trace_control *scratch)
{
    struct samples nothing, samples;
    const uint32_t median = SAMPLES / 2, places[2] = {0, median};
    take_samples(&nothing, log_nothing, scratch);
    const bool has_logged = take_samples(&samples, log, scratch);
    for (uint32_t i = 0; i < 2; i++) {
        figures->ticks[i] = thousandths(samples.ticks[places[i]], nothing.ticks[median]);
        figures->instructions[i] = thousandths(samples.instructions[places[i]], nothing.instructions[median]);
    }
    return has_logged;
}
#endif
