/*
 * trace/cost/cost.h - the cost of a piece of code in instructions, in the kernel and in programs; for
 * benchmarks.
 *
 * Each round reads clock and instruction counter before and after the code. The minimum count of all rounds
 * is the code without timer interrupts. The ticks of the rounds with the minimum are added up: where the
 * clock advances in step with instructions (QEMU's -icount), their mean gives the number of instructions,
 * also where QEMU's instruction counter forgets some (arch/ppc64/counter.c). A tick may be more than one
 * instruction, so rounds begin at different fractions of a tick (cost_begin).
 */
#pragma once

#include <arch/counter.h>
#include <arch/trace.h>
#include <stdbool.h>

struct cost {
    uint32_t instructions; /* minimum of all rounds */
    uint64_t ticks;        /* of all rounds with the minimum */
    uint64_t rounds;       /* number of these rounds */
};
#define COST_UNKNOWN ((struct cost){.instructions = ~0u})

struct cost_reading {
    uint64_t ticks;
    uint32_t instructions;
};

/* If the clock runs at 512 MHz and an instruction takes a nanosecond, an instruction is 64/125 of a tick. */
#define COST_PHASES 125u

/* Readings are stored to memory at once: a register that holds one would be missing in the measured code. */
static inline __attribute__((always_inline)) void cost_begin(volatile struct cost_reading *begin,
                                                             uint32_t round)
{
    for (uint32_t delay = round % COST_PHASES; delay; delay--)
        __asm__ volatile("");
    begin->ticks = arch_trace_clock();
    begin->instructions = arch_instructions();
}

static inline __attribute__((always_inline)) struct cost_reading cost_since(
    const volatile struct cost_reading *begin)
{
    uint32_t instructions = arch_instructions();
    uint64_t ticks = arch_trace_clock();
    return (struct cost_reading){.ticks = ticks - begin->ticks,
                                 .instructions = instructions - begin->instructions};
}

/* Inline: with a call in the loop, the measured code would have to save its registers. */
static inline __attribute__((always_inline)) void cost_add(struct cost *cost, struct cost_reading passed)
{
    if (passed.instructions < cost->instructions)
        *cost = (struct cost){.instructions = passed.instructions};
    if (passed.instructions == cost->instructions) {
        cost->ticks += passed.ticks;
        cost->rounds++;
    }
}

/* The cost of `code`; subtract the cost of no code. */
#define COST_OF(count, code)                                    \
    ({                                                          \
        struct cost cost_ = COST_UNKNOWN;                       \
        for (uint32_t round_ = 0; round_ < (count); round_++) { \
            volatile struct cost_reading begin_;                \
            cost_begin(&begin_, round_);                        \
            code;                                               \
            cost_add(&cost_, cost_since(&begin_));              \
        }                                                       \
        cost_;                                                  \
    })

/* Call sites of trace points whose operands are in registers: user_stopwatch_start and user_values, with the
 * current mask. */
struct cost cost_of_nothing(void);
struct cost cost_of_one_word(void);
struct cost cost_of_four_words(void);

/* Tenths of instructions, at a nanosecond each, of one of `parts` operations, without the cost of measuring.
 */
uint64_t cost_by_clock(const struct cost *cost, const struct cost *nothing, uint32_t parts);

/* ---- the cost of logging an event ----
 *
 * Measured with dummy arguments in the kernel (kernel/trace/bench.c), as KLogger does (Etsion, Tsafrir,
 * Kirkpatrick and Feitelson, EuroSys 2007), by the code that logs real events. For each event evgen writes a
 * function with a call site of its own. Dummies are logged to a ring that nobody reads. A sample is the mean
 * of several events, without the cost of the loop. */

#define TRACE_DUMMY_WORDS 8u /* of an array */
#define TRACE_DUMMY_PARAMETERS \
    uint64_t a, uint64_t b, uint64_t c, uint64_t d, const char *text, const uint64_t *words

typedef void trace_dummy_function(TRACE_DUMMY_PARAMETERS);

/* Defines the function dummy_NAME, which logs one event at the same place each time. */
#define TRACE_DUMMY_FUNCTION(name, call)                                                    \
    static __attribute__((noinline, aligned(32))) void dummy_##name(TRACE_DUMMY_PARAMETERS) \
    {                                                                                       \
        call;                                                                               \
    }

/* Thousandths, of ticks and of instructions. */
struct trace_figures {
    uint32_t ticks[2], instructions[2]; /* the least, the median */
};

/* Measures `log`. The caller's ring is the one with that control page, until this returns. False: nothing was
 * logged, because the event is compiled out or off. */
bool trace_measure(struct trace_figures *figures, trace_dummy_function *log, struct trace_control *scratch);
