/* SPDX-License-Identifier: BSD-2-Clause */
/* noise_tables.h - data of `tarn noise`: collected in noise.c, shown by noise_tables.c. */
#ifndef TARN_NOISE_TABLES_H
#define TARN_NOISE_TABLES_H

#include <tools/tarn/analysis/delays.h>
#include <tools/tarn/analysis/irq_names.h>
#include <tools/tarn/analysis/kinds.h>
#include <tools/tarn/analysis/spans.h>

enum { BY_CAUSE, BY_THREAD, BY_QUANTUM, BY_WHO, BY_DURATION, BY_SLICE, BY_LONGEST, NOISE_TABLES };

enum noise {
    NOISE_IRQ,
    NOISE_IPI,
    NOISE_FAULT,
    NOISE_EXCEPTION,
    NOISE_PREEMPTED,
    NOISE_DISPATCH,
    NOISES,
    WORK
};

/* What a thread did before it became ready. */
enum before { BEFORE_UNKNOWN, BEFORE_RUNNING, BEFORE_FAULT, BEFORE_WAITING };

struct noise_thread {
    bool is_known;
    uint64_t work, taken[NOISES]; /* ticks */
    enum before before;
    uint64_t fault; /* ticks taken by the current fault */
    /* the current quantum */
    uint64_t done, lost[NOISES];
    /* the current time slice: time passed, and work in it */
    uint64_t passed, slice_work;
};

struct noises {
    struct analysis analysis;
    uint64_t quantum_us, quantum; /* amount of work in microseconds; in ticks */
    struct slots threads;         /* struct noise_thread, by thread number */
    struct map causes;            /* struct distribution, by enum noise and detail */
    struct map
        culprits; /* struct tally by number of the thread that ran in place of others; UINT32_MAX: unknown */
    /* durations of quanta: without one kind of noise each, with all, with none */
    struct distribution quanta[NOISES], with_all, with_none;
    struct distribution slices; /* work per time slice of the length of a quantum */
    struct longest_list longest;
    struct delays delays;
    struct irq_names irqs;
    const struct field *fault_kinds;
};

extern const struct table noise_tables[NOISE_TABLES], noise_totals;

void noise_fill(struct analysis *analysis);

#endif
