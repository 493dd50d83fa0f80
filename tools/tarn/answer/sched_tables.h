/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/answer/sched_tables.h - what `tarn sched` finds (sched.c) and shows (sched_tables.c). */
#ifndef TARN_SCHED_TABLES_H
#define TARN_SCHED_TABLES_H

#include <stdlib.h>
#include <tools/tarn/answer/delays.h>
#include <tools/tarn/answer/kinds.h>
#include <tools/tarn/answer/spans.h>

enum {
    BY_CPU,
    BY_THREAD,
    BY_PROCESS,
    BY_DELAY,
    BY_WAKER,
    BY_END,
    BY_WAIT,
    BY_WAKEUP,
    BY_RUN,
    BY_LONGEST,
    SCHED_TABLES
};
extern const struct table sched_tables[SCHED_TABLES];

/* Why a stretch of running ended. */
enum run_end {
    RUN_SLICE,     /* its time slice was used up */
    RUN_PREEMPTED, /* for another thread */
    RUN_YIELD,
    RUN_MOVED,   /* it may not run on this processor any more */
    RUN_WOKEN,   /* it was about to wait, and woken before */
    RUN_BLOCKED, /* + enum model_state */
    RUN_ENDS = RUN_BLOCKED + MODEL_STATES
};

/* In place of a thread's number: a timer, an interrupt, or not known; any idle thread. */
#define NO_THREAD   UINT32_MAX
#define IDLE_THREAD (UINT32_MAX - 1)

struct sched_thread {
    uint64_t ran, waited; /* ticks */
    uint64_t switches, migrations, preempted;
    uint64_t handed;      /* times that a processor was handed over to it without a wait */
    uint64_t quantum_end; /* ticks: when its time slice was last used up, */
    uint64_t moved;       /* and when it went to another processor while it ran */
    bool is_woken;        /* the wait that begins or is under way began with a wake-up */
    uint32_t delayer;     /* number of who delayed longest at a stretch in that wait, */
    uint64_t delay;       /* and how long, ticks */
    struct distribution runs, waits;
};

struct sched_cpu {
    uint64_t busy, idle, boot, switches, arrived; /* boot: of busy */
    struct distribution waits;
};

struct delay {
    uint64_t count, total, max, at;
};

struct sched {
    struct answer answer;
    struct slots threads;   /* struct sched_thread * by thread number */
    struct map wakers;      /* struct distribution by number of the waker and of the woken */
    struct map pairs;       /* struct delay by number of the delayer and of the delayed */
    struct sched_cpu *cpus; /* by rank */
    struct distribution runs, waits, wakeups, ends[RUN_ENDS];
    struct longest_list longest;
    struct delays delays;
    struct arena arena; /* of threads and distributions */
    const struct event_type *quantum_end, *migrate;
    const struct field *migrate_tid;
    uint32_t yield; /* number of the system call */
};

void sched_fill(struct answer *answer);

#endif
