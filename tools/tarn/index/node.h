/*
 * node.h - summaries of what happened in a time, and how they are added up.
 *
 * A tally is the accumulator; encoded, it is a node of the index. It contains only threads that ran or
 * changed state: any other thread stayed in the state in which its last node left it. So a node has the kind
 * of each thread's time at its begin and end.
 */
#pragma once

#include <tools/tarn/model/walk.h>

enum node_kind {
    NODE_USER = MODE_USER, /* running, by mode */
    NODE_KERNEL = MODE_KERNEL,
    NODE_INTERRUPT = MODE_INTERRUPT,
    NODE_READY, /* from here on, the model's states */
    NODE_KINDS = MODEL_STATES + 2,
    NODE_ABSENT = NODE_KINDS, /* not yet created, or dead */
};

static inline enum node_kind node_kind_of_state(enum model_state state)
{
    return (enum node_kind)((int)state + 2);
}

static inline enum node_kind node_kind(const struct model_thread *thread)
{
    if (thread->state != MODEL_RUNNING)
        return thread->has_ended ? NODE_ABSENT : node_kind_of_state(thread->state);
    return (enum node_kind)model_mode(thread);
}

/* Kinds of a CPU's time; the rest is unknown. */
enum cpu_kind { CPU_USER, CPU_KERNEL, CPU_INTERRUPT, CPU_IDLE, CPU_KINDS };

struct tally_thread {
    uint64_t ticks[NODE_KINDS];
    uint64_t until; /* counted up to here */
    uint32_t stamp;
    uint32_t cpu;                /* rank where it runs or last ran: has all of its time there, except ... */
    uint64_t given[MODEL_MODES]; /* ... this, which is not yet added to that CPU */
    uint8_t first, last;         /* enum node_kind; first: NODE_ABSENT also if it ran then */
};

struct tally_ran {
    uint64_t ticks;
    uint32_t thread;
};

struct tally_cpu {
    uint64_t ticks[CPU_KINDS];
    struct tally_ran *ran; /* by number */
    uint32_t count;
    size_t size; /* of the array */
};

struct tally {
    struct model_observer observer;
    uint64_t begin;               /* ticks */
    struct tally_thread *threads; /* by number; valid if they have the tally's stamp */
    uint32_t thread_size, stamp;
    uint32_t *touched; /* the numbers of valid ones */
    uint32_t touched_count;
    size_t touched_size;    /* of the array */
    struct tally_cpu *cpus; /* by rank */
    unsigned cpu_count;
    uint64_t *events; /* by type */
    unsigned event_count;
};

void tally_open(struct tally *tally, const struct trace *trace);
void tally_close(struct tally *tally);
void tally_begin(struct tally *tally, uint64_t begin); /* clears it */

struct tally_thread *tally_add_thread(struct tally *tally, uint32_t number);

/* Returns a thread's record. IS_NEW: it is new, and the caller must set `first` and `until`. */
static inline struct tally_thread *tally_touch(struct tally *tally, uint32_t number, bool *is_new)
{
    *is_new = number >= tally->thread_size || tally->threads[number].stamp != tally->stamp;
    return __builtin_expect(*is_new, 0) ? tally_add_thread(tally, number) : &tally->threads[number];
}

/* A thread's times by enum node_kind; all 0 if it has no record. */
const uint64_t *tally_ticks(const struct tally *tally, uint32_t number);

/* Adds the segments open at END, up to which MERGE was taken: all touched threads are counted up to END. */
void tally_open_segments(struct tally *tally, const struct model *model, const struct merge *merge,
                         uint64_t end);
void tally_observe(struct tally *tally, struct model *model); /* fills it from a walk */

void tally_encode(const struct tally *tally, struct buffer *out); /* as a node */
/* Adds a node, from BEGIN to END; BEGIN is where the node before ended. */
void tally_add(struct tally *tally, struct buffer_reader node, uint64_t begin, uint64_t end);
/* Extends threads without further events to END, in their last state. */
void tally_extend(struct tally *tally, uint64_t end);
