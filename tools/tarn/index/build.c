/* build.c - makes the index in one walk over the trace; see index.h. */
#include <tools/tarn/index/index.h>

#define LONGEST_NS (1ll << 53) /* the largest integers that are exact in JSON */

struct builder {
    struct index *index;
    const struct trace *trace;
    struct index_yield *yield;
    struct merge merge;
    struct report_keeper keeper;
    struct position *positions;
    struct tally block;    /* of the open block */
    struct tally sum;      /* of a node above */
    uint64_t number;       /* of the open block's first event */
    uint64_t in_block;     /* events in the open block */
    uint64_t latest;       /* ticks, of all events so far */
    uint64_t sparse_until; /* from then on, a block with few events may end */
};

/* Returns how many checkpoints are valid if everything from FROM on may have changed. */
static size_t valid_checkpoints(const struct index *index, uint64_t from)
{
    size_t count = blob_array_count(&index->checkpoints);
    while (count > 0 && index_begin(index, count * INDEX_STRIDE) > from)
        count--;
    return count;
}

static void cut_index(struct index *index, size_t strides)
{
    size_t nodes = strides * INDEX_STRIDE;
    index->blocks.used = nodes * sizeof(struct index_block);
    for (unsigned level = 0; level < INDEX_LEVELS; level++, nodes /= INDEX_FANOUT)
        blob_array_cut(&index->levels[level], nodes);
    blob_array_cut(&index->checkpoints, strides);
    blob_array_cut(&index->snapshots, strides);
}

static void save_checkpoint(struct builder *builder)
{
    struct blob_array *array = &builder->index->checkpoints;
    merge_save(&builder->merge, builder->positions);
    buffer_add(&array->bytes, builder->positions,
               builder->trace->stream_count * sizeof(builder->positions[0]));
    buffer_add(&array->bytes, &builder->index->losses, INDEX_LOSSES_BYTES);
    buffer_add(&array->bytes, &builder->index->report_count, sizeof(builder->index->report_count));
    model_save(builder->index->model, &array->bytes);
    blob_array_end(array);
    model_save_snapshot(builder->index->model, &builder->index->snapshots.bytes);
    blob_array_end(&builder->index->snapshots);
}

static void restore_checkpoint(struct builder *builder, size_t strides)
{
    struct buffer_reader reader = blob_array_get(&builder->index->checkpoints, strides - 1);
    struct losses losses;
    buffer_get(&reader, builder->positions, builder->trace->stream_count * sizeof(builder->positions[0]));
    buffer_get(&reader, &losses, INDEX_LOSSES_BYTES);
    losses_add(&builder->index->losses, &losses);
    buffer_get(&reader, &builder->index->report_count, sizeof(builder->index->report_count));
    model_restore(builder->index->model, reader.at, reader.left);
}

static void note_thread(struct builder *builder, const struct model_thread *thread)
{
    struct buffer *threads = &builder->index->threads;
    struct index_thread *record;
    while (index_thread_count(builder->index) <= thread->number)
        buffer_add(threads, &(struct index_thread){.tid = MODEL_NOBODY, .pid = MODEL_NOBODY},
                   sizeof(struct index_thread));
    record = index_thread(builder->index, thread->number);
    *record = (struct index_thread){.begin = thread->begin,
                                    .end = thread->end,
                                    .tid = thread->tid,
                                    .pid = thread->pid,
                                    .cpu = thread->cpu,
                                    .prio = thread->prio,
                                    .is_idle = thread->is_idle};
    memcpy(record->name, thread->comm, sizeof(record->name));
    if (record->name[0] == '\0')
        snprintf(record->name, sizeof(record->name), "%s", model_thread_name(builder->index->model, thread));
}

/* Adds a node to LEVEL, and with the last of INDEX_FANOUT their sum to the level above. */
static void add_node(struct builder *builder, unsigned level, struct tally *tally)
{
    struct blob_array *array = &builder->index->levels[level];
    size_t count = blob_array_count(array) + 1;
    tally_encode(tally, &array->bytes);
    blob_array_end(array);
    if (level + 1 == INDEX_LEVELS || count % INDEX_FANOUT != 0)
        return;
    index_sum_nodes(builder->index, level, count - INDEX_FANOUT, INDEX_FANOUT, &builder->sum);
    add_node(builder, level + 1, &builder->sum);
}

static void open_block(struct builder *builder, uint64_t begin)
{
    const struct schema *schema = &builder->trace->schema;
    builder->in_block = 0;
    builder->sparse_until = schema_ticks(schema, schema_ns(schema, begin) + INDEX_SPARSE_NS);
    tally_begin(&builder->block, begin);
    model_begin_stays(builder->index->model, begin);
}

/* Call it when all events before END (ticks) have been taken. */
static void close_block(struct builder *builder, uint64_t end)
{
    struct tally *tally = &builder->block;
    struct index *index = builder->index;
    struct index_block block = {tally->begin, builder->number};
    tally_open_segments(tally, index->model, &builder->merge, end);
    for (uint32_t i = 0; i < tally->touched_count; i++)
        note_thread(builder, index->model->threads[tally->touched[i]]);
    buffer_add(&index->blocks, &block, sizeof(block));
    builder->number += builder->in_block;
    index->events = builder->number;
    index->end = end;
    tally_extend(tally, end);
    add_node(builder, 0, tally);
}

/* Begins a new block with the current event, at TICKS, if time has advanced. False: stop. */
static bool next_block(struct builder *builder, uint64_t ticks)
{
    const struct schema *schema = &builder->trace->schema;
    int64_t ns = schema_ns(schema, ticks);
    uint64_t begin;
    if (ns <= schema_ns(schema, builder->latest) && builder->in_block < INDEX_BLOCK_MAX)
        return true;
    begin = schema_ticks(schema, ns);
    if (begin < builder->block.begin) /* only in a damaged trace */
        begin = builder->block.begin;
    close_block(builder, begin);
    open_block(builder, begin);
    if (index_block_count(builder->index) % INDEX_STRIDE != 0)
        return true;
    save_checkpoint(builder);
    return builder->yield == NULL || builder->yield->yield(builder->yield);
}

static bool take_events(struct builder *builder)
{
    struct model *model = builder->index->model;
    uint64_t *events = builder->block.events, in_block = 0, scale = index_scale(builder->trace);
    struct cursor *cursor = merge_next(&builder->merge);
    walk_begin(model, &builder->merge);
    while (cursor != NULL) {
        if (__builtin_expect(in_block >= INDEX_BLOCK_EVENTS * scale, 0) ||
            (__builtin_expect(cursor->ticks >= builder->sparse_until, 0) &&
             in_block >= INDEX_SPARSE_EVENTS * scale)) {
            builder->in_block = in_block;
            builder->latest = model->now > builder->latest ? model->now : builder->latest;
            if (!next_block(builder, cursor->ticks))
                return false;
            in_block = builder->in_block;
        }
        in_block++;
        events[cursor->event.type->index]++;
        cursor = model_apply_next(model, &builder->merge, cursor);
    }
    builder->in_block = in_block;
    builder->latest = model->now > builder->latest ? model->now : builder->latest;
    return true;
}

/* Returns a time just after all events, but within the range that JSON can represent. */
static uint64_t find_end(const struct builder *builder)
{
    const struct schema *schema = &builder->trace->schema;
    int64_t begin = schema_ns(schema, builder->index->begin), end = schema_ns(schema, builder->trace->end);
    int64_t most = begin < INT64_MAX - LONGEST_NS ? begin + LONGEST_NS : INT64_MAX - 1;
    int64_t latest = schema_ns(schema, builder->latest);
    end = latest > end ? latest : end;
    return schema_ticks(schema, (end < most ? end : most) + 1);
}

static void begin_walk(struct builder *builder, size_t strides)
{
    struct index *index = builder->index;
    uint64_t begin = index->begin;
    if (strides > 0) {
        begin = index_begin(index, strides * INDEX_STRIDE);
        builder->number = index_first(index, strides * INDEX_STRIDE);
        restore_checkpoint(builder, strides);
    }
    cut_index(index, strides);
    index->end = begin;
    index->events = builder->number;
    blob_array_cut(&index->reports, index->report_count);
    builder->latest = strides > 0 ? begin - 1 : 0;
    open_block(builder, begin);
}

static void build(struct builder *builder, size_t strides)
{
    struct index *index = builder->index;
    begin_walk(builder, strides);
    tally_observe(&builder->block, index->model);
    builder->keeper =
        report_keeper(builder->trace, &index->reports, &index->report_count, &index->losses.reporter);
    merge_open_at(&builder->merge, builder->trace, builder->positions, &builder->keeper.reporter);
    index->is_partial = true;
    index->is_partial = !take_events(builder);
    if (!index->is_partial) {
        close_block(builder, find_end(builder));
        index->ending.used = 0;
        model_save_snapshot(index->model, &index->ending);
    }
    merge_close(&builder->merge);
}

/* Learns the facts from before the trace, until a statedump is complete. Returns whether anything is new. */
static bool learn_beginning(struct index *index, const struct trace *trace, bool is_new)
{
    struct buffer old = index->beginning;
    struct model model;
    bool is_same;
    if (index->has_beginning && !is_new)
        return false;
    memset(&index->beginning, 0, sizeof(index->beginning));
    model_open(&model, trace, 0, UINT64_MAX);
    index->has_beginning = model_learn_beginning(&model);
    model_save_snapshot(&model, &index->beginning);
    model_close(&model);
    is_same = old.used == index->beginning.used && memcmp(old.bytes, index->beginning.bytes, old.used) == 0;
    free(old.bytes);
    return !is_same;
}

void index_open_model(struct index *index, const struct trace *trace, size_t strides)
{
    if (index->model != NULL)
        model_close(index->model);
    else
        index->model = alloc_zero(1, sizeof(*index->model));
    model_open(index->model, trace, 0, UINT64_MAX);
    index_restore(index, index->model, 0, strides, false);
    model_save_snapshot(index->model, NULL); /* these are saved already */
}

void index_extend(struct index *index, const struct trace *trace, uint64_t from, struct index_yield *yield)
{
    struct builder builder = {.index = index, .trace = trace, .yield = yield};
    bool is_new = from <= trace->begin;
    size_t strides = learn_beginning(index, trace, is_new) || is_new ? 0 : valid_checkpoints(index, from);
    index->begin = trace->begin;
    builder.positions = alloc_zero(trace->stream_count + 1, sizeof(builder.positions[0]));
    tally_open(&builder.block, trace);
    tally_open(&builder.sum, trace);
    losses_open(&index->losses, trace);
    index->losses.quiet = true;
    index->report_count = 0;
    index_open_model(index, trace, strides);
    build(&builder, strides);
    tally_close(&builder.block);
    tally_close(&builder.sum);
    free(builder.positions);
}
