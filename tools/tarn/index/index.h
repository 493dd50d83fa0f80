/*
 * index.h - an index that makes any range of a trace fast to show.
 *
 * The merged events of all CPUs are cut into blocks of about eight thousand; more if there are many CPUs,
 * because summaries and checkpoints contain each of them. For each block the index has its start time, the
 * number of its first event, and a summary (node.h): the time of threads by state, of CPUs by thread, the
 * number of events by type. Above are levels of summaries: a node of level n sums up INDEX_FANOUT nodes of
 * level n - 1. Every INDEX_STRIDE blocks there is a checkpoint: positions in the streams and the state of the
 * model, from which a walk continues as if it came from the start of the trace.
 *
 * A block begins where time advances: all events before it are earlier in nanoseconds. Events are numbered
 * from 0 in the order of the merge; requests to the view use these numbers.
 *
 * index_extend makes the index, and extends it when streams have grown: from a checkpoint before everything
 * new, so the result is the same as in one go. The index takes about 1 to 2 percent of the trace.
 */
#pragma once

#include <tools/tarn/index/node.h>
#include <tools/tarn/read/losses.h>

#define INDEX_BLOCK_EVENTS  8192u
#define INDEX_CPUS          64u /* for so many, blocks have this size, for more they grow with their number ... */
#define INDEX_SCALE_MAX     16u      /* ... up to so many times */
#define INDEX_BLOCK_MAX     65536u   /* with one time; then a block ends anyway */
#define INDEX_SPARSE_EVENTS 64u      /* a block may end after this many events if they took ... */
#define INDEX_SPARSE_NS     10000000 /* ... at least this long */
#define INDEX_FANOUT_BITS   4u
#define INDEX_FANOUT        (1u << INDEX_FANOUT_BITS)
#define INDEX_LEVELS        7u
#define INDEX_STRIDE        8u /* blocks between checkpoints */
#define INDEX_REPORTS       200u

struct index_block {
    uint64_t begin; /* ticks */
    uint64_t first; /* number of its first event */
};

/* Items of any size. */
struct blob_array {
    struct buffer bytes;
    struct buffer ends; /* uint64_t each: the end of item i */
};

#define INDEX_LOSSES_BYTES offsetof(struct losses, lacks) /* of the losses, in a checkpoint */

/* Facts about threads of the whole trace, which have the model's numbers. */
struct index_thread {
    uint64_t begin, end; /* ticks; end: if it has ended */
    uint32_t tid, pid;   /* MODEL_NOBODY: the record for unknown threads */
    uint32_t cpu;        /* rank of the CPU where it last ran */
    uint16_t prio;
    bool is_idle;
    char name[TRACE_NAME_BYTES + 1];
};

#define INDEX_PARTS (10u + 2u * INDEX_LEVELS)

struct index {
    union {
        struct {
            struct buffer blocks;    /* struct index_block */
            struct buffer threads;   /* struct index_thread */
            struct buffer beginning; /* long-lived facts from before all events: model_learn_beginning */
            struct buffer ending;    /* and those since the last checkpoint, if the index is complete */
            struct blob_array checkpoints; /* number k: before block (k + 1) * INDEX_STRIDE */
            struct blob_array snapshots; /* number k: long-lived facts from between checkpoints k - 1 and k */
            struct blob_array reports;   /* texts of the first INDEX_REPORTS reports of losses and damage */
            struct blob_array levels[INDEX_LEVELS];
        };
        struct buffer parts[INDEX_PARTS]; /* all of these; of a blob array, its bytes and then its ends */
    };
    struct model *model; /* with the facts so far about processes, interrupts and locks; NULL: no index yet */
    bool has_beginning;  /* it is final, even if the trace grows */
    uint64_t events;
    uint64_t begin, end; /* ticks; all events are before end */
    struct losses losses;
    uint64_t report_count; /* of all of these */
    bool is_partial;       /* still to be made, or under construction: the streams contain more */
};

/* How many times larger than with few CPUs blocks are. */
static inline uint64_t index_scale(const struct trace *trace)
{
    uint64_t scale = trace->stream_count / INDEX_CPUS;
    return scale < 1 ? 1 : scale < INDEX_SCALE_MAX ? scale : INDEX_SCALE_MAX;
}

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

/* Returns the block of a time: the last one that begins at or before it, or 0. */
size_t index_find_time(const struct index *index, uint64_t ticks);
size_t index_find_event(const struct index *index, uint64_t number);
/* Returns an upper estimate of the events in a range: those of all blocks that it touches. */
uint64_t index_events_in(const struct index *index, uint64_t from, uint64_t to);

size_t blob_array_count(const struct blob_array *array);
/* The reader is empty if there is no such item. */
struct buffer_reader blob_array_get(const struct blob_array *array, size_t number);
void blob_array_end(struct blob_array *array);               /* completes the item whose bytes were added */
void blob_array_cut(struct blob_array *array, size_t count); /* keeps the first COUNT items */

void index_free(struct index *index);

/* Opens the model anew, with the facts known at a checkpoint. */
void index_open_model(struct index *index, const struct trace *trace, size_t strides);
/* Restores the long-lived facts (processes, names, executables) of strides FROM <= n < TO; of 0: also those
 * from before the trace. ONLY_LOCKS: only the names of locks. */
void index_restore(const struct index *index, struct model *model, size_t from, size_t to, bool only_locks);

/* Finds the shortest range of whole blocks with nearly all events, plus a margin, to leave out a boot or a
 * long wait; the whole trace if that is hardly longer. In ticks. */
void index_find_busy(const struct index *index, uint64_t *from, uint64_t *to);

/* Keeps the first INDEX_REPORTS reports as texts, counts them, and passes them to NEXT. */
struct report_keeper {
    struct reporter reporter;
    struct reporter *next;
    const struct trace *trace;
    struct blob_array *texts;
    uint64_t *count;
};
struct report_keeper report_keeper(const struct trace *trace, struct blob_array *texts, uint64_t *count,
                                   struct reporter *next);

/* Called by index_extend now and then, while the index is usable. */
struct index_yield {
    bool (*yield)(struct index_yield *yield); /* false: stop */
};

/* Reads the streams from FROM (ticks) on, before which nothing has changed; 0: reads all. */
void index_extend(struct index *index, const struct trace *trace, uint64_t from, struct index_yield *yield);

/*
 * The index in a file, so that a trace opens without a walk: $XDG_CACHE_HOME/tarn (or ~/.cache/tarn), under a
 * number made from the trace's path; a later trace with the same number replaces it. It ends with a checksum
 * of its bytes, the tool's file and the trace's files (inode, time, size), and needs no further checks.
 */
/* INDEX is empty before. False: there is none of this trace as it is. */
bool index_load(struct index *index, const struct trace *trace);
void index_save(const struct index *index, const struct trace *trace); /* as far as that can be done */
bool index_path(const struct trace *trace, char path[PATH_MAX]);       /* false: there is no place */

/* Convert to the file's bytes and back; for the functions above, and for tests. */
void index_write(const struct index *index, const struct trace *trace, FILE *out); /* failure: ferror */
bool index_read(struct index *index, const struct trace *trace, const uint8_t *bytes, size_t size);

static inline uint64_t index_node_blocks(unsigned level)
{
    return 1ull << level * INDEX_FANOUT_BITS;
}

/* Adds up nodes. False: one cannot be read. */
bool index_sum_nodes(const struct index *index, unsigned level, size_t first, size_t count,
                     struct tally *sum);
bool index_sum_stride(const struct index *index, size_t stride, struct tally *sum);

/*
 * Walks over events in order, from the checkpoint before a stride; without it from the start of the trace,
 * which is slow.
 *
 *     walk_open(&walk, trace, index, stride);
 *     while ((cursor = walk_next(&walk)) != NULL && cursor->ticks < to)
 *         ... walk.number is the event's ...
 *     merge_close(&walk.merge);
 */
struct walk {
    struct merge merge;
    uint64_t next;             /* number of the next event */
    uint64_t number;           /* number of the event returned last */
    struct buffer_reader rest; /* of the checkpoint: the model's state */
};

void walk_open(struct walk *walk, const struct trace *trace, const struct index *index, size_t stride);

static inline struct cursor *walk_next(struct walk *walk)
{
    walk->number = walk->next++;
    return merge_next(&walk->merge);
}

/* Which long-lived facts the model gets, as if the walk had begun with the trace. */
enum walk_knowledge { WALK_KNOWS_NOTHING, WALK_KNOWS_LOCKS /* their names */, WALK_KNOWS_ALL };

/* Opens MERGE at the checkpoint before BEGIN, from which MODEL, just opened, continues. REPORTER, or NULL,
 * gets damage and losses from there on. The walk itself does not need the index. */
void walk_open_range(struct model *model, struct merge *merge, const struct index *index, uint64_t begin,
                     enum walk_knowledge knows, struct reporter *reporter);

/* The same with the trace's own index, for commands. If much of a large trace lies before BEGIN, the index is
 * loaded, or made and kept; otherwise the walk begins with the trace. The trace must not grow. */
void walk_open_late(struct model *model, struct merge *merge, uint64_t begin, struct reporter *reporter);
/* Moves a walk on to the last checkpoint before some threads run or change their states. SEGMENTS has the
 * start of the open segment of each of these, by number; 0 for others. False: there is none, or no index. */
bool walk_skip(struct model *model, struct merge *merge, const uint64_t *segments);
