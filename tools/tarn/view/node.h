/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/view/node.h - summaries: what happened between two moments, and where it is added up.
 *
 * A tally adds up; encoded it is a node of the index. It holds only threads that ran or changed their state:
 * one that is not in a node was all the time in the state in which its last node left it. A node tells the
 * kinds of a thread's time at its begin and at its end, so that the times between nodes are known when nodes
 * are added up in order.
 */
#ifndef TARN_NODE_H
#define TARN_NODE_H

#include <tools/tarn/model/model.h>
#include <tools/tarn/view/varint.h>

#define NODE_THREADS_MAX (MODEL_THREADS_MAX + 8192u) /* idle threads come on top */

/* How a thread's time is told apart. */
enum node_kind {
    NODE_USER = MODE_USER, /* runs, ... */
    NODE_KERNEL = MODE_KERNEL,
    NODE_INTERRUPT = MODE_INTERRUPT,
    NODE_READY, /* from here on states of the model */
    NODE_KINDS = MODEL_STATES + 2,
    NODE_ABSENT = NODE_KINDS, /* not born or dead */
};

static inline enum node_kind node_kind_of_state(enum model_state state)
{
    return (enum node_kind)((int)state + 2);
}

/* What its thread's time counts as now. */
static inline enum node_kind node_kind(const struct model_thread *thread)
{
    if (thread->state != MODEL_RUNNING)
        return thread->has_ended ? NODE_ABSENT : node_kind_of_state(thread->state);
    return (enum node_kind)model_mode(thread);
}

/* How a processor's time is told apart; what is left is unknown. */
enum cpu_kind { CPU_USER, CPU_KERNEL, CPU_INTERRUPT, CPU_IDLE, CPU_KINDS };

static inline enum cpu_kind cpu_kind(const struct model_thread *thread, enum node_kind kind)
{
    return kind == NODE_USER && thread->is_idle ? CPU_IDLE : (enum cpu_kind)kind;
}

struct tally_thread {
    uint64_t ticks[NODE_KINDS];
    uint64_t until; /* counted up to here */
    uint32_t stamp;
    uint32_t cpu;                /* where it runs or ran last: all of its time there but ... */
    uint64_t given[MODEL_MODES]; /* ... this is still to be given to that processor */
    uint8_t first, last;         /* enum node_kind; first: NODE_ABSENT of one that ran then, too */
};

struct tally_ran {
    uint64_t ticks;
    uint32_t thread;
};

struct tally_cpu {
    uint64_t ticks[CPU_KINDS];
    struct tally_ran *ran; /* in a long list a thread may be twice */
    uint32_t count, room;
};

struct tally {
    uint64_t begin;               /* ticks */
    struct tally_thread *threads; /* by number; valid with the tally's stamp */
    uint32_t thread_room, stamp;
    uint32_t *touched; /* their numbers */
    uint32_t touched_count, touched_room;
    struct tally_cpu *cpus; /* by rank */
    unsigned cpu_count;
    uint64_t *events; /* by type */
    unsigned event_count;
    bool is_broken; /* a node was not what the index writes */
};

void tally_open(struct tally *tally, const struct trace *trace);
void tally_close(struct tally *tally);
void tally_begin(struct tally *tally, uint64_t begin); /* forgets all */

struct tally_thread *tally_add_thread(struct tally *tally, uint32_t number);

/* The record of a thread; IS_NEW: it has just been made, `first` and `until` are to be set. */
static inline struct tally_thread *tally_touch(struct tally *tally, uint32_t number, bool *is_new)
{
    *is_new = number >= tally->thread_room || tally->threads[number].stamp != tally->stamp;
    return __builtin_expect(*is_new, 0) ? tally_add_thread(tally, number) : &tally->threads[number];
}

/* Segments that are open at END; after this, all that was touched is counted up to there. Of processor N
 * nothing is known from LIMITS[N] on. */
void tally_open_segments(struct tally *tally, const struct model *model, const uint64_t *limits,
                         uint64_t end);
/* Fills a tally from a walk; `is_done`: takes no more. */
struct tally_observer {
    struct model_observer observer;
    struct tally *tally;
    bool is_done;
};
void tally_observe(struct tally_observer *self, struct tally *tally);

/* What another tally has added up until END, which follows what was added before. */
void tally_add(struct tally *tally, const struct tally *more, uint64_t end);
/* A node of the time from BEGIN to END, likewise. */
void tally_node(struct tally *tally, struct buffer_reader node, uint64_t begin, uint64_t end);
/* Threads of which nothing more was heard stay as they were up to END. */
void tally_extend(struct tally *tally, uint64_t end);
void tally_encode(struct tally *tally, struct buffer *out);

/* Reads a node. NULL: is skipped. */
struct node_visitor {
    void (*cpu)(struct node_visitor *visitor, uint32_t rank, const uint64_t ticks[CPU_KINDS]);
    void (*ran)(struct node_visitor *visitor, uint32_t rank, uint32_t thread, uint64_t ticks);
    void (*thread)(struct node_visitor *visitor, uint32_t number, enum node_kind first, enum node_kind last,
                   const uint64_t ticks[NODE_KINDS]);
    void (*events)(struct node_visitor *visitor, uint32_t type, uint64_t count);
};
/* False: it is broken. What is visited is within these limits. */
bool node_visit(struct node_visitor *visitor, struct buffer_reader node, unsigned cpus, unsigned types);

#endif
