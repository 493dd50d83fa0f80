/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/answer/locks.h - what `tarn locks` finds (locks.c) and shows (locks_tables.c). */
#ifndef TARN_LOCKS_H
#define TARN_LOCKS_H

#include <tools/tarn/answer/kinds.h>
#include <tools/tarn/answer/lock_owners.h>
#include <tools/tarn/answer/spans.h>

enum {
    LOCKS_BY_CLASS,
    LOCKS_BY_CAUSE,
    LOCKS_BY_LOCK,
    LOCKS_BY_CHAIN,
    LOCKS_BY_PROCESS,
    LOCKS_BY_THREAD,
    LOCKS_BY_HOLDER,
    LOCKS_BY_WAIT,
    LOCKS_BY_HOLD,
    LOCKS_BY_LONGEST,
    LOCKS_BY_WAITING,
    LOCKS_TABLES
};
extern const struct table locks_tables[LOCKS_TABLES];

#define LOCK_CHAIN_MOST   16u
#define LOCK_CLASS_OTHERS MODEL_LOCK_CLASSES /* stands for numbers that the model does not remember */

/* Ticks. */
struct lock_sum {
    uint64_t acquisitions; /* while they were logged */
    uint64_t contentions, contentions_watched;
    uint64_t waited, longest, spins;
    uint64_t holds, held, held_longest;
};

struct lock_class {
    struct lock_sum sum;
    uint64_t causes[LOCK_CAUSES];
    struct distribution waits, holds;
};

/* One lock. */
struct lock {
    struct lock_sum sum;
    uint32_t class;
    struct lock_changes owners;
};

/* A call chain: as logged. */
struct lock_chain {
    struct lock_sum sum;
    uint32_t depth;
    uint64_t addresses[LOCK_CHAIN_MOST];
};

/* A thread that others waited for. */
struct lock_holder {
    uint64_t waits, waited, longest, causes[LOCK_CAUSES];
    const void *last; /* the wait that was counted last */
};

/* Of one of the longest waits. */
struct lock_wait_record {
    uint64_t causes[LOCK_CAUSES];
    const struct model_thread *holder; /* who kept it waiting longest; NULL: not known */
    uint64_t holder_ticks;
    struct lock_wait wait;
};

/* A thread that sleeps until a lock is free. */
struct lock_sleeper {
    uint64_t since, lock;
    uint64_t switches; /* of the thread, until then: it has not run since if they are the same */
    uint32_t class;
    const struct model_thread *thread, *holder;
};

struct lock_fields {
    const struct event_type *type;
    const struct field *lock, *lock_class, *pid, *wait, *spins, *holder, *held, *acquisitions, *depth, *chain;
};

struct locks {
    struct answer answer;
    struct lock_fields contended, held, acquired, sleep;
    struct lock_states states;
    struct map classes;  /* struct lock_class by number */
    struct map locks;    /* struct lock by process (0: the kernel) and address */
    struct map chains;   /* struct lock_chain by class, process of the thread, hash */
    struct map threads;  /* struct lock_sum by number */
    struct map holders;  /* struct lock_holder by number and class */
    struct map sleepers; /* struct lock_sleeper by number */
    struct map ended; /* const struct model_thread * by tid: who let a lock go may end before it is taken */
    struct distribution waits, holds;
    struct longest_list longest; /* args: address, struct lock_wait_record * */
    struct arena arena;          /* of distributions and records */
    unsigned depth;              /* functions of a chain that are shown */
};

void locks_fill(struct answer *answer);

#endif
