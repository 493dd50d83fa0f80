/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/answer/noise_tables.h - what `tarn noise` finds (noise.c) and shows (noise_tables.c). */
#ifndef TARN_NOISE_TABLES_H
#define TARN_NOISE_TABLES_H

#include <tools/tarn/answer/delays.h>
#include <tools/tarn/answer/irq_names.h>
#include <tools/tarn/answer/kinds.h>
#include <tools/tarn/answer/spans.h>

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
    uint64_t fault; /* taken by the fault under way */
    /* the quantum under way */
    uint64_t done, lost[NOISES];
    /* the slice of time under way: how much of it is over, and the work in it */
    uint64_t passed, slice_work;
};

/* Who ran in the place of others. */
struct culprit {
    uint64_t times, total, max;
};

struct noises {
    struct answer answer;
    uint64_t quantum_us, quantum; /* of work; ticks */
    struct slots threads;         /* struct noise_thread by thread number */
    struct map causes;            /* struct distribution by enum noise and detail */
    struct map culprits;          /* struct culprit by thread number, UINT32_MAX: not known */
    /* how long quanta took: without each noise, with all, with none */
    struct distribution quanta[NOISES], with_all, with_none;
    struct distribution slices; /* the work done in slices of time as long as a quantum */
    struct longest_list longest;
    struct delays delays;
    struct irq_names irqs;
    const struct field *fault_kinds;
    struct arena arena;
};

extern const struct table noise_tables[NOISE_TABLES], noise_totals;

void noise_fill(struct answer *answer);

#endif
