/* trace/cost/dummies.c - takes samples of the cost of logging an event; see dummies.h. */
#include <trace/cost/cost.h>
#include <trace/cost/dummies.h>
#include <trace/ring/ring.h>

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
