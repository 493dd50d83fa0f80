/* SPDX-License-Identifier: BSD-2-Clause */
/* locks.h - data of `tarn locks`: collected in locks.c, shown by locks_tables.c. */
#ifndef TARN_LOCKS_H
#define TARN_LOCKS_H

#include <tools/tarn/analysis/delays.h>
#include <tools/tarn/analysis/estimate.h>
#include <tools/tarn/analysis/kinds.h>
#include <tools/tarn/analysis/lock_owners.h>
#include <tools/tarn/analysis/spans.h>

enum {
    LOCKS_BY_CLASS,
    LOCKS_BY_CAUSE,
    LOCKS_BY_LOCK,
    LOCKS_BY_CHAIN,
    LOCKS_BY_CHAIN_HOLDER,
    LOCKS_BY_PROCESS,
    LOCKS_BY_THREAD,
    LOCKS_BY_HOLDER,
    LOCKS_BY_INSTEAD,
    LOCKS_BY_EVENT,
    LOCKS_BY_EVENT_CHAIN,
    LOCKS_BY_WAKER,
    LOCKS_BY_WAIT,
    LOCKS_BY_HOLD,
    LOCKS_BY_LONGEST,
    LOCKS_BY_WAITING,
    LOCKS_TABLES
};
extern const struct table locks_tables[LOCKS_TABLES];

#define LOCK_CHAIN_MAX    16u
#define LOCK_CLASS_OTHERS MODEL_LOCK_CLASSES /* for class numbers beyond those the model keeps */

/* Times are in ticks. */
struct lock_sum {
    struct estimate acquisitions; /* while one in N was logged */
    uint64_t contentions, contentions_sampled;
    uint64_t waited, longest, spins;
    uint64_t holds, held, held_longest;
};

struct lock_class {
    struct lock_sum sum;
    uint64_t causes[LOCK_CAUSES];
    struct distribution waits, holds;
};

struct lock_chain {
    struct lock_sum sum;
    uint32_t depth;
    uint64_t addresses[LOCK_CHAIN_MAX];
};

/* The latest acquisition of a lock by a thread, until the release. */
struct lock_taking {
    const struct model_thread *thread;
    uint64_t lock;
    struct lock_chain *chain; /* NULL: unknown */
};

/* What a holder did, in total, while a call chain waited for it. */
struct lock_chain_holder {
    struct lock_stretch stretch; /* one of the stretches added up */
    struct tally waits;
    uint64_t wait, this_wait; /* number of the wait counted last, and its ticks */
};

/* A thread that others waited for. */
struct lock_holder {
    struct tally waits;
    uint64_t causes[LOCK_CAUSES];
};

/* A thread that ended waits: by a release or by signalling an event. */
struct lock_waker {
    struct tally waits;
    const struct model_thread *thread; /* NULL: a time-out, or unknown */
};

/* A thread that ran while a holder was preempted and another thread waited for the lock. */
struct lock_instead {
    uint64_t waited;
    const struct model_thread *thread, *holder;
};

struct lock_wait_record {
    uint64_t causes[LOCK_CAUSES];
    /* The holder that caused most of the wait, the thread that ran longest instead of a holder, the thread
     * that ended the wait; NULL: unknown. */
    const struct model_thread *holder, *instead, *waker;
    uint64_t holder_ticks, instead_ticks;
    struct lock_wait wait;
};

/* A thread that sleeps until a lock is free. */
struct lock_sleeper {
    uint64_t since, lock;
    uint64_t switches; /* of the thread at that time: if unchanged, it has not run since */
    uint32_t class;
    const struct model_thread *thread, *holder;
};

struct lock_fields {
    const struct event_type *type;
    const struct field *lock, *lock_class, *pid, *wait, *spins, *holder, *held, *acquisitions, *depth, *chain;
};

struct locks {
    struct analysis analysis;
    struct lock_fields contended, held, acquired, sleep;
    uint32_t threshold; /* ticks: the largest; shorter waits were not logged */
    struct lock_states states;
    struct map classes; /* struct lock_class by number */
    /* struct lock_sum by pid (0: the kernel), address and class: a lock, one of the two classes of a
     * read-write lock, or an event */
    struct map locks;
    struct map owners; /* struct lock_changes by pid and address */
    struct map chains; /* struct lock_chain by class, the thread's pid, hash */
    /* struct lock_chain_holder by address of the chain, thread number, what it did */
    struct map chain_holders;
    struct map takings;  /* struct lock_taking by thread number, address, pid and class */
    struct map threads;  /* struct lock_sum by thread number */
    struct map holders;  /* struct lock_holder by thread number and class */
    struct map wakers;   /* struct lock_waker by thread number (all ones: none) and class */
    struct map instead;  /* struct lock_instead by both thread numbers and class */
    struct map sleepers; /* struct lock_sleeper by thread number */
    /* struct model_thread by tid: a thread that released a lock may end before the next acquisition */
    struct map ended;
    uint64_t wait_count; /* including the current one */
    struct delays delays;
    struct distribution waits, holds; /* of locks, like `longest` and `threads` */
    struct longest_list longest;      /* args: address, struct lock_wait_record * */
    uint64_t depth;                   /* number of functions of a chain to show */
};

static inline bool lock_class_is_event(const struct model *model, uint32_t class)
{
    return class < MODEL_LOCK_CLASSES && model->lock_classes[class].kind == MODEL_EVENT;
}

void lock_sum_add(struct lock_sum *into, const struct lock_sum *from);
void locks_fill(struct analysis *analysis);

/* ---- locks_chains.c ---- */
/* An event of a lock, logged by the running thread, which it is about. */
struct lock_event {
    const struct model_thread *thread;
    uint64_t lock, at; /* at: ticks */
    uint32_t class, pid;
    bool is_sampled, is_event;
};
struct lock_chain *lock_chain_at(struct locks *locks, const struct lock_fields *fields,
                                 const struct cursor *cursor, const struct lock_event *event);
/* The event's thread acquires the lock in CHAIN; replaces its earlier acquisition. */
void lock_chain_takes(struct locks *locks, const struct lock_event *event, struct lock_chain *chain);
/* The thread releases the lock: returns the chain that acquired it, or NULL. */
struct lock_chain *lock_chain_lets_go(struct locks *locks, const struct lock_event *event);
/* Counts a stretch of the current wait, in which CHAIN waited. */
void lock_chain_blame(struct locks *locks, const struct lock_chain *chain,
                      const struct lock_stretch *stretch);
void locks_fill_chain_holders(struct locks *locks);

/* ---- locks_names.c ---- */
const char *lock_class_name(const struct analysis *analysis, uint32_t class, char text[ANALYSIS_NAME_BYTES]);
/* Returns the name that the program gave the lock, or that
 * of the variable, or its address; allocated in TABLE. */
const char *lock_name(const struct analysis *analysis, struct table *table, uint32_t pid, uint64_t address);
#define LOCK_CHAIN_BYTES 400u
void lock_chain_name(const struct analysis *analysis, uint32_t pid, const struct lock_chain *chain,
                     char text[LOCK_CHAIN_BYTES]);
/* Chains with the same functions are merged, also those of different processes of a program. */
struct lock_chain_group {
    struct lock_sum sum;
    const char *text, *process;
};
/* Adds a record of locks.chains to a map of groups. */
void lock_chain_group(struct locks *locks, struct map *groups, const struct map_entry *entry);

#endif
