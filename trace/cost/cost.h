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
