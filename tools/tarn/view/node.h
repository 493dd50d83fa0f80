/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/view/node.h - summaries: what happened between two moments, and where it is added up.
 *
 * A tally adds up; encoded it is a node of the index. It holds only threads of which something was heard: one
 * that is not in a node was all the time in the state in which its last node left it. A node tells the kinds
 * of a thread's time at its begin and at its end, so that the times between nodes are known when nodes are
 * added up in order.
 */
#ifndef TARN_NODE_H
#define TARN_NODE_H

#include <tools/tarn/model/model.h>
#include <tools/tarn/view/varint.h>

#define NODE_THREADS_MAX (MODEL_THREADS_MAX + 8192u) /* idle threads come on top */

/* How a thread's time is told apart. */
enum node_kind {
    NODE_USER, /* runs, ... */
    NODE_KERNEL,
    NODE_INTERRUPT,
    NODE_READY, /* from here on states of the model */
    NODE_KINDS = MODEL_STATES + 2,
    NODE_ABSENT = NODE_KINDS, /* not born or dead */
};

static inline enum node_kind node_kind_of_state(enum model_state state)
{
    return (enum node_kind)((int)state + 2);
}

/* While it runs: by the innermost activity. */
static inline enum node_kind node_kind(const struct model_thread *thread)
{
    static const uint8_t kinds[ACTIVITIES] = {
        [ACTIVITY_LIBC] = NODE_USER,        [ACTIVITY_SYSCALL] = NODE_KERNEL, [ACTIVITY_FAULT] = NODE_KERNEL,
        [ACTIVITY_EXCEPTION] = NODE_KERNEL, [ACTIVITY_IRQ] = NODE_INTERRUPT,  [ACTIVITY_IPI] = NODE_INTERRUPT,
        [ACTIVITY_REQUEST] = NODE_USER};

    if (thread->state != MODEL_RUNNING)
        return thread->has_ended ? NODE_ABSENT : node_kind_of_state(thread->state);
    if (thread->depth == 0 || thread->depth > MODEL_DEPTH_MAX)
        return NODE_USER;
    return (enum node_kind)kinds[thread->frames[thread->depth - 1].kind];
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
    uint8_t first, last; /* enum node_kind */
};

struct tally_ran {
    uint64_t ticks;
    uint32_t thread;
};

struct tally_cpu {
    uint64_t ticks[CPU_KINDS];
    struct tally_ran *ran; /* a thread may be in it twice */
    uint32_t count, room;
    uint32_t recent; /* the one that was added to last; a place that exists */
    /* Who runs now, not yet added to anything: most segments are of the thread that had the one before. */
    uint32_t running; /* UINT32_MAX: nobody */
    bool is_idle;
    uint64_t run[NODE_INTERRUPT + 1];
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

void tally_run_other(struct tally_cpu *cpu, uint32_t thread, uint64_t ticks); /* slow path of tally_run */

/* TICKS on a processor. */
static inline void tally_run(struct tally_cpu *cpu, uint32_t thread, uint64_t ticks)
{
    if (__builtin_expect(cpu->count != 0 && cpu->ran[cpu->recent].thread == thread, 1))
        cpu->ran[cpu->recent].ticks += ticks;
    else
        tally_run_other(cpu, thread, ticks);
}

void tally_segment_slowly(struct tally *tally, const struct model_thread *thread, uint64_t from, uint64_t to);

/* A segment as the model tells it, from the tally's begin on. */
static inline void tally_segment(struct tally *tally, const struct model_thread *thread, uint64_t from,
                                 uint64_t to)
{
    struct tally_cpu *cpu = &tally->cpus[thread->cpu];

    if (__builtin_expect(thread->state == MODEL_RUNNING && cpu->running == thread->number, 1))
        cpu->run[node_kind(thread)] += to - from;
    else
        tally_segment_slowly(tally, thread, from, to);
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

/* A node of the time from BEGIN to END, which follows what was added before. */
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
