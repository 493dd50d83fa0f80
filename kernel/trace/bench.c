/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/trace/bench.c - what logging each event of the system costs (`trace bench`), for the metadata.
 *
 * The idea is KLogger's (Etsion, Tsafrir, Kirkpatrick and Feitelson, EuroSys 2007): dummy events of each
 * kind, by the code that logs real ones. Each event has a function here with a call site of its own: a site
 * that is on, the cold code behind it (with a second site, which is off, if the event can be limited), and a
 * block (trace/ring/restart.h). The sites are not in the table of sites, so no mask switches them off. While
 * a sample is taken, this CPU's ring is one of its own, which nobody reads: dummy events are never in the
 * trace. Interrupts are off; what an NMI logs meanwhile is lost.
 *
 * A sample is the mean of SAMPLE events, without what the loop costs. A system call takes the samples of one
 * event, so that none is long.
 *
 * Locking: trace_lock covers ring and results.
 */
#define TRACE_SITES_UNLISTED
#include "trace/dummies.h" /* generated: includes the classes */
#include <kernel/cpu/cpu.h>
#include <kernel/kernel.h>
#include <kernel/trace/bench.h>
#include <kernel/trace/control.h>
#include <tarn/error.h>
#include <trace/cost/cost.h>
#include <trace/format/metadata.h>
#include <trace/format/text.h>
#include <trace/ring/ring.h>

#define SAMPLE            32u
#define SAMPLES           15u
#define TRACE_DUMMY_WORDS 8u
#define FIRST_WORD        16u /* of an event in the ring */

typedef void dummy_function(uint64_t a, uint64_t b, uint64_t c, uint64_t d, const char *text,
                            const uint64_t *words);

#define TRACE_DUMMY(id, name, call)                                                              \
    static __attribute__((noinline, aligned(32))) void dummy_##name(                             \
        uint64_t a, uint64_t b, uint64_t c, uint64_t d, const char *text, const uint64_t *words) \
    {                                                                                            \
        call;                                                                                    \
    }
#include "trace/dummies.h"
#undef TRACE_DUMMY

static __attribute__((noinline, aligned(32))) void log_nothing(uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                                                               const char *text, const uint64_t *words)
{
    __asm__ volatile("");
}

#define TRACE_DUMMY(id, name, call) {id, #name, dummy_##name},
static const struct dummy {
    uint32_t id;
    const char *name;
    dummy_function *log;
} dummies[] = {
#include "trace/dummies.h"
};
#define DUMMIES (sizeof(dummies) / sizeof(dummies[0]))

/* The figures of an event: thousandths, of ticks and of instructions. */
struct figures {
    bool is_known;
    uint32_t ticks[2], instructions[2]; /* the least, the median */
};

/* under trace_lock */
static struct figures results[DUMMIES];
static struct {
    struct trace_control control;
    char buffer[TRACE_BUFFER_BYTES_MIN];
} scratch __attribute__((aligned(4096)));
_Static_assert(TRACE_BUFFERS_OFFSET - TRACE_CONTROL_OFFSET == sizeof(struct trace_control), "as in a ring");

/* ---- a sample ------------------------------------------------------------------------------------- */

struct sample {
    uint64_t ticks, instructions; /* of SAMPLE calls */
};

/* LOG logs one event, at the same place each time. */
static struct sample take_sample(dummy_function *log, uint32_t round)
{
    static const uint64_t words[TRACE_DUMMY_WORDS];
    volatile struct cost_reading begin;
    uint64_t *index = &scratch.control.index;

    scratch.control.time_limit = trace_time_limit(arch_trace_clock());
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
    bool has_logged;
};

static void take_samples(struct samples *samples, dummy_function *log)
{
    struct cpu *cpu = this_cpu();
    const uint64_t ring = cpu->block.ring;

    scratch.control.bound = TRACE_INDEX_CLOSED - 1;
    cpu->block.ring = (uint64_t)scratch.buffer;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        struct sample sample = take_sample(log, i);
        insert(samples->ticks, i, sample.ticks);
        insert(samples->instructions, i, sample.instructions);
    }
    samples->has_logged = scratch.control.index != trace_index_at(FIRST_WORD, 0);
    cpu->block.ring = ring;
}

static uint32_t thousandths(uint64_t all, uint64_t nothing)
{
    return all > nothing ? (uint32_t)((all - nothing) * 1000 / SAMPLE) : 0;
}

/* An event that is compiled out, or off where trace points read the mask, has no figures. */
static void measure(struct figures *figures, const struct dummy *dummy)
{
    struct samples nothing, samples;
    const uint32_t median = SAMPLES / 2, places[2] = {0, median};

    take_samples(&nothing, log_nothing);
    take_samples(&samples, dummy->log);
    for (uint32_t i = 0; i < 2; i++) {
        figures->ticks[i] = thousandths(samples.ticks[places[i]], nothing.ticks[median]);
        figures->instructions[i] = thousandths(samples.instructions[places[i]], nothing.instructions[median]);
    }
    figures->is_known = samples.has_logged;
}

/* ---- the metadata --------------------------------------------------------------------------------- */

static void add_number(struct trace_text *text, uint32_t number, bool is_known)
{
    trace_text_char(text, ' ');
    if (is_known)
        trace_text_number(text, number);
    else
        trace_text_char(text, '-');
}

static void write_figures(struct trace_text *text, const struct dummy *dummy, const struct figures *figures)
{
    const bool counts = arch_counts_instructions();

    trace_text_add(text, " * ");
    trace_text_add(text, dummy->name);
    for (uint32_t i = 0; i < 2; i++)
        add_number(text, figures->ticks[i], true);
    for (uint32_t i = 0; i < 2; i++)
        add_number(text, figures->instructions[i], counts);
    trace_text_char(text, '\n');
}

/* FORMAT.md, "Costs of logging". A multiple of 8 bytes. */
void trace_bench_write(struct trace_text *text)
{
    assert(spin_held(&trace_lock));
    trace_text_add(text, TRACE_COSTS_BEGIN);
    for (uint32_t i = 0; i < DUMMIES; i++)
        if (results[i].is_known)
            write_figures(text, &dummies[i], &results[i]);
    trace_text_add(text, " */\n");
    while (text->length % 8 != 0)
        trace_text_char(text, '\n');
}

int64_t trace_bench(uint64_t id)
{
    for (uint32_t i = 0; i < DUMMIES; i++) {
        if (dummies[i].id != id)
            continue;
        spin_lock(&trace_lock);
        measure(&results[i], &dummies[i]);
        bool is_known = results[i].is_known;
        spin_unlock(&trace_lock);
        return is_known ? 0 : -E_NOT_FOUND;
    }
    return -E_NOT_FOUND;
}
