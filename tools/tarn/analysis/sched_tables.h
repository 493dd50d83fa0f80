/* SPDX-License-Identifier: BSD-2-Clause */
/* sched_tables.h - data of `tarn sched`: collected in sched.c, shown by sched_tables.c. */
#ifndef TARN_SCHED_TABLES_H
#define TARN_SCHED_TABLES_H

#include <stdlib.h>
#include <tools/tarn/analysis/delays.h>
#include <tools/tarn/analysis/kinds.h>
#include <tools/tarn/analysis/spans.h>

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

enum run_end {
    RUN_SLICE,     /* its time slice was used up */
    RUN_PREEMPTED, /* by another thread */
    RUN_YIELD,
    RUN_MOVED,   /* its affinity no longer allows this CPU */
    RUN_WOKEN,   /* it was about to wait, but was woken before */
    RUN_BLOCKED, /* + enum model_state */
    RUN_ENDS = RUN_BLOCKED + MODEL_STATES
};

/* In place of thread numbers: a timer, an interrupt, or unknown; any idle thread. */
#define NO_THREAD   UINT32_MAX
#define IDLE_THREAD (UINT32_MAX - 1)

struct sched_thread {
    uint64_t ran, waited; /* ticks */
    uint64_t switches, migrations, preempted;
    uint64_t handed;      /* times that it was handed a CPU without a wait */
    uint64_t quantum_end; /* ticks: when it last used up its time slice */
    uint64_t moved;       /* ticks: when it last migrated while running */
    bool is_woken;        /* the wait that begins or is in progress began with a wake-up */
    uint32_t delayer;     /* number of the thread with the longest single delay in that wait */
    uint64_t delay;       /* length of that delay, ticks */
    struct distribution runs, waits;
};

struct sched_cpu {
    uint64_t busy, idle, boot, switches, arrived; /* boot: part of `busy` */
    struct distribution waits;
};

struct delay {
    struct tally ticks;
    uint64_t at; /* when the longest began */
};

struct sched {
    struct analysis analysis;
    struct slots threads;   /* struct sched_thread *, by thread number */
    struct map wakers;      /* struct distribution by numbers of waker and woken thread */
    struct map pairs;       /* struct delay by numbers of delaying and delayed thread */
    struct sched_cpu *cpus; /* by rank */
    struct distribution runs, waits, wakeups, ends[RUN_ENDS];
    struct longest_list longest;
    struct delays delays;
    const struct event_type *quantum_end, *migrate;
    const struct field *migrate_tid;
    uint32_t yield; /* number of the system call */
};

void sched_fill(struct analysis *analysis);

#endif
