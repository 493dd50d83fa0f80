/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/view/index_build.c - makes the index in one walk over the trace; see index.h. */
#include <stdlib.h>
#include <tools/tarn/read/losses.h>
#include <tools/tarn/view/index.h>

#define LONGEST_NS (1ll << 53) /* what a number of JSON counts exactly */

struct builder {
    struct index *index;
    const struct trace *trace;
    struct index_yield *yield;
    struct merge merge;
    struct losses losses;
    struct position *positions;
    uint64_t number;   /* of the next event */
    uint64_t in_block; /* events */
    int64_t latest;    /* of all events so far, ns */
    int64_t block_ns;  /* begin of the block that is open */
    uint64_t block_begin;
};

/* ---- going back ---------------------------------------------------------------------------------- */

/* How many checkpoints still hold when everything from FROM on may have changed. */
static size_t valid_checkpoints(const struct index *index, uint64_t from)
{
    size_t count = pile_count(&index->checkpoints);

    while (count > 0 && index_begin(index, count * INDEX_STRIDE) > from)
        count--;
    return count;
}

static void cut_index(struct index *index, size_t strides)
{
    size_t nodes = strides * INDEX_STRIDE;

    index->blocks.used = nodes * sizeof(struct index_block);
    for (unsigned level = 0; level < INDEX_LEVELS; level++, nodes /= INDEX_FANOUT)
        pile_cut(&index->levels[level], nodes);
    pile_cut(&index->checkpoints, strides);
}

/* ---- checkpoints --------------------------------------------------------------------------------- */

static void save_checkpoint(struct builder *builder)
{
    struct index_pile *pile = &builder->index->checkpoints;

    merge_save(&builder->merge, builder->positions);
    buffer_add(&pile->bytes, builder->positions,
               builder->trace->stream_count * sizeof(builder->positions[0]));
    buffer_add(&pile->bytes, &builder->index->losses, sizeof(builder->index->losses));
    pile_end(pile);
}

static bool restore_checkpoint(struct builder *builder, size_t strides, struct fail *fail)
{
    struct buffer_reader reader = pile_get(&builder->index->checkpoints, strides - 1);

    buffer_get(&reader, builder->positions, builder->trace->stream_count * sizeof(builder->positions[0]));
    buffer_get(&reader, &builder->index->losses, sizeof(builder->index->losses));
    if (reader.failed)
        return fail_set(fail, "a checkpoint of the index is broken");
    return true;
}

static void note_losses(struct builder *builder)
{
    struct index_losses *sum = &builder->index->losses;
    struct losses *new = &builder->losses;

    sum->events += new->lost_events;
    sum->packets += new->lost_packets;
    sum->cut += new->cut_packets;
    sum->damaged += new->damaged;
    sum->before |= new->lost_unknown;
    losses_open(new, builder->trace);
    new->quiet = true;
}

/* ---- blocks -------------------------------------------------------------------------------------- */

static void open_block(struct builder *builder, uint64_t begin, int64_t ns)
{
    builder->block_begin = begin;
    builder->block_ns = ns;
    builder->in_block = 0;
}

/* Everything before END (ticks) has come. */
static void close_block(struct builder *builder, uint64_t end)
{
    struct index_block block = {builder->block_begin, builder->number - builder->in_block};

    buffer_add(&builder->index->blocks, &block, sizeof(block));
    builder->index->events = builder->number;
    builder->index->end = end;
    note_losses(builder);
}

/* The event at NS is the first of a new block. False: its maker wants to stop. */
static bool next_block(struct builder *builder, int64_t ns)
{
    uint64_t begin = schema_ticks(&builder->trace->schema, ns);

    close_block(builder, begin);
    open_block(builder, begin, ns);
    if (index_block_count(builder->index) % INDEX_STRIDE != 0)
        return true;
    save_checkpoint(builder);
    return builder->yield == NULL || builder->yield->yield(builder->yield);
}

static bool wants_block(const struct builder *builder, int64_t ns)
{
    if (builder->in_block >= INDEX_BLOCK_MOST)
        return true;
    return ns > builder->latest && (builder->in_block >= INDEX_BLOCK_EVENTS ||
                                    (uint64_t)ns - (uint64_t)builder->block_ns >= INDEX_SPARSE_NS);
}

static bool take_events(struct builder *builder)
{
    struct cursor *cursor;

    while ((cursor = merge_next(&builder->merge)) != NULL) {
        int64_t ns = cursor_ns(cursor);

        if (builder->in_block >= INDEX_SPARSE_EVENTS && wants_block(builder, ns) && !next_block(builder, ns))
            return false;
        builder->latest = ns > builder->latest ? ns : builder->latest;
        builder->number++;
        builder->in_block++;
    }
    return true;
}

/* Just after everything, but no longer than can be told. */
static uint64_t find_end(const struct builder *builder)
{
    const struct schema *schema = &builder->trace->schema;
    int64_t begin = schema_ns(schema, builder->index->begin), end = schema_ns(schema, builder->trace->end);
    int64_t most = begin < INT64_MAX - LONGEST_NS ? begin + LONGEST_NS : INT64_MAX - 1;

    end = builder->latest > end ? builder->latest : end;
    return schema_ticks(schema, (end < most ? end : most) + 1);
}

static bool build(struct builder *builder, size_t strides, struct fail *fail)
{
    struct index *index = builder->index;

    if (strides > 0) {
        uint64_t begin = index_begin(index, strides * INDEX_STRIDE);

        builder->number = index_first(index, strides * INDEX_STRIDE);
        if (!restore_checkpoint(builder, strides, fail))
            return false;
        cut_index(index, strides);
        builder->latest = schema_ns(&builder->trace->schema, begin) - 1;
        open_block(builder, begin, builder->latest + 1);
    } else {
        cut_index(index, 0);
        memset(&index->losses, 0, sizeof(index->losses));
        builder->latest = INT64_MIN;
        open_block(builder, index->begin, schema_ns(&builder->trace->schema, index->begin));
    }
    merge_open_at(&builder->merge, builder->trace, builder->positions, &builder->losses.reporter);
    index->is_partial = true;
    index->is_partial = !take_events(builder);
    if (!index->is_partial)
        close_block(builder, find_end(builder));
    merge_close(&builder->merge);
    return true;
}

bool index_extend(struct index *index, const struct trace *trace, uint64_t from, struct index_yield *yield,
                  struct fail *fail)
{
    struct builder builder = {.index = index, .trace = trace, .yield = yield};
    bool fine;

    index->begin = trace->begin;
    builder.positions = alloc_zero(trace->stream_count + 1, sizeof(builder.positions[0]));
    losses_open(&builder.losses, trace);
    builder.losses.quiet = true;
    fine = build(&builder, from > trace->begin ? valid_checkpoints(index, from) : 0, fail);
    free(builder.positions);
    return fine;
}
