/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/view/index.h - what makes any range of a trace quick to look at.
 *
 * The events of all processors in order are cut into blocks of about two thousand. Of each block the index
 * knows when it begins and the number of its first event, and a summary (node.h): which thread was in which
 * state how long, who ran on which processor, how many events of each type. Levels of summaries lie above: a
 * node of level n sums up INDEX_FANOUT nodes of level n - 1. Every INDEX_STRIDE blocks there is a checkpoint:
 * places in the streams and the state of the model, from where a walk goes on as if it came from the trace's
 * begin (walk.h).
 *
 * A block begins where time has passed: all events before it are earlier in nanoseconds. Numbers of events
 * count from 0 in the order of the merge; they name events in the view's requests.
 *
 * index_extend makes the index, and appends to it when streams have grown; the result is the same as of one
 * made at once, because it goes back to a checkpoint before all that is new. index_file.c keeps it in a file.
 * Everything lies in memory, about 1 to 2 percent of the trace.
 */
#ifndef TARN_INDEX_H
#define TARN_INDEX_H

#include <tools/tarn/read/order.h>
#include <tools/tarn/view/node.h>

#define INDEX_BLOCK_EVENTS  2048u
#define INDEX_BLOCK_MOST    65536u   /* of one time: then a block ends all the same */
#define INDEX_SPARSE_EVENTS 64u      /* so many are enough when they took ... */
#define INDEX_SPARSE_NS     10000000 /* ... this long */
#define INDEX_FANOUT        16u
#define INDEX_LEVELS        7u
#define INDEX_STRIDE        32u /* blocks from one checkpoint to the next */

struct index_block {
    uint64_t begin; /* ticks */
    uint64_t first; /* number of its first event */
};

/* Things of any size, one after the other. */
struct index_pile {
    struct buffer bytes;
    struct buffer ends; /* uint64_t each: where thing i ends */
};

struct index_losses {
    uint64_t events, packets, cut, damaged;
    bool before; /* some were lost before the trace begins */
};

/* What is known of a thread and of a process over the whole trace. Threads by the model's numbers. */
struct index_thread {
    uint64_t begin, end; /* ticks; end: UINT64_MAX while it lives */
    uint32_t tid, pid;   /* MODEL_NOBODY: stands for those that are not known */
    uint32_t cpu;        /* rank, where it ran last */
    bool is_idle, was_created;
    char name[TRACE_NAME_BYTES + 1];
};

struct index_process {
    uint64_t begin, end;  /* ticks; end: UINT64_MAX while it lives */
    uint32_t pid, parent; /* parent: MODEL_NOBODY when not known */
    int32_t status;
    bool was_created;
    char name[32];
};

struct index {
    struct buffer blocks;    /* struct index_block */
    struct buffer threads;   /* struct index_thread */
    struct buffer processes; /* struct index_process, in the order in which they were heard of */
    /* once the index is whole: */
    struct buffer irqs;         /* struct model_irq */
    struct buffer lock_classes; /* struct model_lock_class by number */
    struct model *model;        /* of whom makes the index */
    struct index_pile levels[INDEX_LEVELS];
    struct index_pile checkpoints; /* number k: before block (k + 1) * INDEX_STRIDE */
    struct index_pile knowledge;   /* number k: what was learned between checkpoints k - 1 and k */
    struct buffer beginning;       /* what was known before all of it: model_learn_beginning */
    bool has_beginning;            /* and no more will be, however the trace grows */
    uint64_t events;
    uint64_t begin, end; /* ticks; everything lies before end */
    struct index_losses losses;
    bool is_partial; /* being made: there is more in the streams */
};

static inline size_t index_block_count(const struct index *index)
{
    return index->blocks.used / sizeof(struct index_block);
}

static inline const struct index_block *index_block(const struct index *index, size_t block)
{
    return (const struct index_block *)index->blocks.bytes + block;
}

/* Of block BLOCK; of the one after the last: the end of all. */
static inline uint64_t index_begin(const struct index *index, size_t block)
{
    return block < index_block_count(index) ? index_block(index, block)->begin : index->end;
}

static inline uint64_t index_first(const struct index *index, size_t block)
{
    return block < index_block_count(index) ? index_block(index, block)->first : index->events;
}

static inline uint32_t index_thread_count(const struct index *index)
{
    return (uint32_t)(index->threads.used / sizeof(struct index_thread));
}

static inline struct index_thread *index_thread(const struct index *index, uint32_t number)
{
    return (struct index_thread *)index->threads.bytes + number;
}

static inline size_t index_process_count(const struct index *index)
{
    return index->processes.used / sizeof(struct index_process);
}

static inline struct index_process *index_process(const struct index *index, size_t number)
{
    return (struct index_process *)index->processes.bytes + number;
}

/* The block that a time lies in: the last that begins at or before it; 0 when there is none. */
size_t index_find_time(const struct index *index, uint64_t ticks);
size_t index_find_event(const struct index *index, uint64_t number);

size_t pile_count(const struct index_pile *pile);
struct buffer_reader pile_get(const struct index_pile *pile,
                              size_t number);         /* nothing when there is no such thing */
void pile_end(struct index_pile *pile);               /* what was added to bytes is one more thing */
void pile_cut(struct index_pile *pile, size_t count); /* forgets all but COUNT */
void pile_free(struct index_pile *pile);

void index_free(struct index *index);

/* What was known of processes, their names and program files before the first STRIDES strides ended, or when
 * the trace began, to a new model; or only what locks were called. */
bool index_teach(const struct index *index, struct model *model, size_t strides, bool only_locks,
                 struct fail *fail);

/* Where it happened: the shortest range of whole blocks with nearly all events, and a little on either side,
 * so that a boot and a wait without events are left out. All, where that is hardly longer. In ticks. */
void index_find_busy(const struct index *index, uint64_t *from, uint64_t *to);

/* Called now and then by index_extend, when the index is of use so far. */
struct index_yield {
    bool (*yield)(struct index_yield *yield); /* false: stop here */
};

/* Takes what is in TRACE's streams from FROM (ticks) on, where nothing before FROM has changed; 0: all. */
bool index_extend(struct index *index, const struct trace *trace, uint64_t from, struct index_yield *yield,
                  struct fail *fail);

/* Blocks under a node of a level. */
static inline uint64_t index_node_blocks(unsigned level)
{
    uint64_t blocks = 1;

    while (level-- > 0)
        blocks *= INDEX_FANOUT;
    return blocks;
}

#endif
