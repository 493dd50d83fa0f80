/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/answer/locks.h - what `tarn locks` finds (locks.c) and shows (locks_tables.c). */
#ifndef TARN_LOCKS_H
#define TARN_LOCKS_H

#include <tools/tarn/answer/delays.h>
#include <tools/tarn/answer/kinds.h>
#include <tools/tarn/answer/lock_owners.h>
#include <tools/tarn/answer/spans.h>

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

/* One lock, or one of the two classes that a read-write lock belongs to, or an event. */
struct lock {
    struct lock_sum sum;
};

/* A call chain: as logged. */
struct lock_chain {
    struct lock_sum sum;
    uint32_t depth;
    uint64_t addresses[LOCK_CHAIN_MOST];
};

/* Who took a lock last, where: until it lets go. */
struct lock_taking {
    const struct model_thread *thread;
    uint64_t lock;
    struct lock_chain *chain; /* NULL: not known */
};

/* What a holder did, in all, while a call chain waited for it. */
struct lock_chain_holder {
    struct lock_stretch stretch; /* one of them */
    uint64_t waits, waited, longest;
    uint64_t wait, this_wait; /* the number of the wait that was counted last, and its ticks */
};

/* A thread that others waited for. */
struct lock_holder {
    uint64_t waits, waited, longest, causes[LOCK_CAUSES];
    const void *last; /* the wait that was counted last */
};

/* Who ended waits: let the lock go, or signalled the event. */
struct lock_waker {
    uint64_t waits, waited, longest;
    const struct model_thread *thread; /* NULL: time was over, or it is not known */
};

/* Who ran while a holder was preempted, and somebody waited for the lock. */
struct lock_instead {
    uint64_t waited;
    const struct model_thread *thread, *holder;
};

/* Of one of the longest waits. */
struct lock_wait_record {
    uint64_t causes[LOCK_CAUSES];
    /* Who kept it waiting longest, who ran longest in a holder's place, who ended it; NULL: not known */
    const struct model_thread *holder, *instead, *waker;
    uint64_t holder_ticks, instead_ticks;
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
    struct map classes;       /* struct lock_class by number */
    struct map locks;         /* struct lock by process (0: the kernel), address and class */
    struct map owners;        /* struct lock_changes by process and address */
    struct map chains;        /* struct lock_chain by class, process of the thread, hash */
    struct map chain_holders; /* struct lock_chain_holder by address of the chain, number, what it did */
    struct map takings;       /* struct lock_taking by number, address, process and class */
    struct map threads;       /* struct lock_sum by number */
    struct map holders;       /* struct lock_holder by number and class */
    struct map wakers;        /* struct lock_waker by number (all ones: none) and class */
    struct map instead;       /* struct lock_instead by numbers of both and class */
    struct map sleepers;      /* struct lock_sleeper by number */
    struct map ended; /* const struct model_thread * by tid: who let a lock go may end before it is taken */
    uint64_t wait_count; /* up to the one at hand */
    struct delays delays;
    struct distribution waits, holds; /* of locks, as `longest` and `threads` */
    struct longest_list longest;      /* args: address, struct lock_wait_record * */
    struct arena arena;               /* of distributions and records */
    unsigned depth;                   /* functions of a chain that are shown */
};

static inline bool lock_class_is_event(const struct model *model, uint32_t class)
{
    return class < MODEL_LOCK_CLASSES && model->lock_classes[class].kind == MODEL_EVENT;
}

void lock_sum_add(struct lock_sum *into, const struct lock_sum *from);
void locks_fill(struct answer *answer);

/* locks_chains.c */
/* Where in the event the thread is that it is about: who runs. */
struct lock_event {
    const struct model_thread *thread;
    uint64_t lock, at; /* ticks */
    uint32_t class, pid;
    bool is_watched, is_event;
};
/* The chain of an event, perhaps an empty one. */
struct lock_chain *lock_chain_at(struct locks *locks, const struct lock_fields *fields,
                                 const struct cursor *cursor, const struct lock_event *event);
/* The thread of the event takes the lock in CHAIN, at its latest acquisition. */
void lock_chain_takes(struct locks *locks, const struct lock_event *event, struct lock_chain *chain);
/* It lets go: the chain that took it, or NULL. */
struct lock_chain *lock_chain_lets_go(struct locks *locks, const struct lock_event *event);
/* A stretch of the wait at hand, in which CHAIN waited. */
void lock_chain_blame(struct locks *locks, const struct lock_chain *chain,
                      const struct lock_stretch *stretch);
#define LOCK_CHAIN_HOLDER_COLUMNS 9
#define LOCK_CHAIN_HOLDER_WAITED  7 /* its number among them */
extern const struct table_column lock_chain_holder_columns[LOCK_CHAIN_HOLDER_COLUMNS];
void locks_fill_chain_holders(struct locks *locks);

/* locks_names.c */
const char *lock_class_name(const struct answer *answer, uint32_t class, char text[ANSWER_NAME_BYTES]);
/* As the program calls it, or the variable, or its address; of the table. */
const char *lock_name(const struct answer *answer, struct table *table, uint32_t pid, uint64_t address);
#define LOCK_CHAIN_BYTES 400u
void lock_chain_name(const struct answer *answer, uint32_t pid, const struct lock_chain *chain,
                     char text[LOCK_CHAIN_BYTES]);
/* Chains of the same functions are one, also those of several processes of one program. */
struct lock_chain_group {
    struct lock_sum sum;
    const char *text, *process;
};
/* Into a map of groups: adds a record of locks.chains. */
void lock_chain_group(struct locks *locks, struct map *groups, const struct map_entry *entry);

#endif
