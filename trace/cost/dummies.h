/*
 * trace/cost/dummies.h - the cost of logging an event, measured with dummy arguments, in the kernel
 * (kernel/trace/bench.c).
 *
 * The idea is KLogger's (Etsion, Tsafrir, Kirkpatrick and Feitelson, EuroSys 2007): dummy events of each
 * kind, by the code that logs real ones. For each event evgen writes a function with a call site of its own.
 * Dummies are logged to a ring that nobody reads, so they are never in the trace.
 *
 * A sample is the mean of SAMPLE events, without the cost of the loop.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <trace/format/layout.h>

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
