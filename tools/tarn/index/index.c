/* index.c - look-ups in the index, and walks that begin at its checkpoints; see index.h. */
#include <stdlib.h>
#include <tools/tarn/index/index.h>
#include <tools/tarn/read/losses.h>

#define WORTH_BYTES (32.0 * (1 << 20)) /* of the trace: a walk over less takes no time */

size_t index_find_time(const struct index *index, uint64_t ticks)
{
    return FIRST_WHERE(1, index_block_count(index), n, index_block(index, n)->begin > ticks) - 1;
}

size_t index_find_event(const struct index *index, uint64_t number)
{
    return FIRST_WHERE(1, index_block_count(index), n, index_block(index, n)->first > number) - 1;
}

uint64_t index_events_in(const struct index *index, uint64_t from, uint64_t to)
{
    if (index_block_count(index) == 0 || from >= to)
        return 0;
    return index_first(index, index_find_time(index, to - 1) + 1) -
           index_first(index, index_find_time(index, from));
}

#define BUSY_SHARE  0.98 /* of the events */
#define BUSY_MARGIN 0.02 /* of the range, at either end */
#define BUSY_LENGTH 0.9  /* of the trace: use the whole trace if the range is longer */

void index_find_busy(const struct index *index, uint64_t *from, uint64_t *to)
{
    size_t blocks = index_block_count(index), end = 0;
    double wanted = BUSY_SHARE * (double)index->events, margin;
    uint64_t least = UINT64_MAX;
    *from = index->begin;
    *to = index->end;
    for (size_t begin = 0; begin < blocks; begin++) {
        while (end < blocks && (double)(index_first(index, end) - index_first(index, begin)) < wanted)
            end++;
        if ((double)(index_first(index, end) - index_first(index, begin)) < wanted)
            break;
        if (index_begin(index, end) - index_begin(index, begin) >= least)
            continue;
        least = index_begin(index, end) - index_begin(index, begin);
        *from = index_begin(index, begin);
        *to = index_begin(index, end);
    }
    margin = BUSY_MARGIN * (double)(*to - *from);
    *from = (double)(*from - index->begin) > margin ? *from - (uint64_t)margin : index->begin;
    *to = (double)(index->end - *to) > margin ? *to + (uint64_t)margin : index->end;
    if ((double)(*to - *from) > BUSY_LENGTH * (double)(index->end - index->begin)) {
        *from = index->begin;
        *to = index->end;
    }
}

static uint64_t end_of(const struct blob_array *array, size_t number)
{
    uint64_t end;
    memcpy(&end, array->ends.bytes + number * sizeof(end), sizeof(end));
    return end;
}

size_t blob_array_count(const struct blob_array *array)
{
    return array->ends.used / sizeof(uint64_t);
}

struct buffer_reader blob_array_get(const struct blob_array *array, size_t number)
{
    uint64_t begin, end;
    if (number >= blob_array_count(array))
        return (struct buffer_reader){.failed = true};
    begin = number > 0 ? end_of(array, number - 1) : 0;
    end = end_of(array, number);
    return (struct buffer_reader){.at = array->bytes.bytes + begin, .left = end - begin};
}

bool index_sum_nodes(const struct index *index, unsigned level, size_t first, size_t count, struct tally *sum)
{
    uint64_t blocks = index_node_blocks(level), end = index_begin(index, first * blocks), begin;
    tally_begin(sum, end);
    for (size_t i = first; i < first + count; i++) {
        struct buffer_reader node = blob_array_get(&index->levels[level], i);
        if (node.failed)
            return false;
        begin = end;
        end = index_begin(index, (i + 1) * blocks);
        tally_add(sum, node, begin, end);
    }
    tally_extend(sum, end);
    return true;
}

bool index_sum_stride(const struct index *index, size_t stride, struct tally *sum)
{
    size_t first = stride * INDEX_STRIDE, left = index_block_count(index) - first;
    unsigned level = left >= INDEX_STRIDE; /* at the end, the node of level 1 may not be complete */
    size_t blocks = index_node_blocks(level), count = level > 0 ? INDEX_STRIDE : left;
    return index_sum_nodes(index, level, first / blocks, count / blocks, sum);
}

static void on_report(struct reporter *reporter, const struct report *report)
{
    struct report_keeper *keeper = (struct report_keeper *)reporter;
    char text[1024];
    if ((*keeper->count)++ < INDEX_REPORTS) {
        format_report(keeper->trace, report, text, sizeof(text));
        buffer_text(&keeper->texts->bytes, text);
        blob_array_end(keeper->texts);
    }
    keeper->next->report(keeper->next, report);
}

struct report_keeper report_keeper(const struct trace *trace, struct blob_array *texts, uint64_t *count,
                                   struct reporter *next)
{
    return (struct report_keeper){{on_report}, next, trace, texts, count};
}

void blob_array_end(struct blob_array *array)
{
    uint64_t end = array->bytes.used;
    buffer_add(&array->ends, &end, sizeof(end));
}

void blob_array_cut(struct blob_array *array, size_t count)
{
    if (count >= blob_array_count(array))
        return;
    array->ends.used = count * sizeof(uint64_t);
    array->bytes.used = count > 0 ? end_of(array, count - 1) : 0;
}

void index_free(struct index *index)
{
    for (unsigned i = 0; i < INDEX_PARTS; i++)
        free(index->parts[i].bytes);
    if (index->model != NULL)
        model_close(index->model);
    free(index->model);
    memset(index, 0, sizeof(*index));
}

/* Restores the facts of strides FROM <= n < TO. */
static void restore_pieces(const struct index *index, struct model *model, size_t from, size_t to,
                           bool only_locks)
{
    for (size_t i = from; i < to; i++) {
        struct buffer_reader piece = blob_array_get(&index->snapshots, i);
        model_restore_snapshot(model, piece.at, piece.left, only_locks);
    }
}

void index_restore(const struct index *index, struct model *model, size_t strides, bool only_locks)
{
    model_restore_snapshot(model, index->beginning.bytes, index->beginning.used, only_locks);
    restore_pieces(index, model, 0, strides, only_locks);
    model_save_snapshot(model, NULL);
}

/* Gives the model of a checkpoint the threads that had ended by then. */
static void restore_ended(const struct index *index, struct model *model)
{
    for (uint32_t i = 0; i < model->thread_count && i < index_thread_count(index); i++) {
        const struct index_thread *thread = index_thread(index, i);
        struct model_thread ended = {.number = i,
                                     .tid = thread->tid,
                                     .pid = thread->pid,
                                     .cpu = thread->cpu,
                                     .prio = thread->prio,
                                     .begin = thread->begin,
                                     .end = thread->end};
        memcpy(ended.comm, thread->name, sizeof(ended.comm));
        if (ended.tid != MODEL_NOBODY)
            model_restore_ended(model, &ended);
    }
}

void walk_open(struct walk *walk, const struct trace *trace, const struct index *index, size_t stride)
{
    struct position *positions = alloc_zero(trace->stream_count + 1, sizeof(*positions));
    struct buffer_reader *rest = &walk->rest;
    walk->next = 0;
    if (stride > 0) {
        *rest = blob_array_get(&index->checkpoints, stride - 1);
        buffer_get(rest, positions, trace->stream_count * sizeof(*positions));
        buffer_skip(rest, rest->failed ? 0 : INDEX_LOSSES_BYTES + sizeof(index->report_count));
        walk->next = rest->failed ? 0 : index_first(index, stride * INDEX_STRIDE);
    }
    merge_open_at(&walk->merge, trace, positions, NULL);
    free(positions);
}

/* Losses in the first packets of the walk, and before them, may reach into the range. */
static void report_to(struct merge *merge, struct reporter *reporter)
{
    for (unsigned i = 0; i < merge->trace->stream_count && reporter != NULL; i++) {
        cursor_report_packet(&merge->cursors[i], reporter);
        merge->cursors[i].reporter = reporter;
    }
}

void walk_open_range(struct model *model, struct merge *merge, const struct index *index, uint64_t begin,
                     enum walk_knowledge knows, struct reporter *reporter)
{
    size_t stride = index_find_time(index, begin) / INDEX_STRIDE;
    struct walk walk;
    walk_open(&walk, model->trace, index, stride);
    if (knows != WALK_KNOWS_NOTHING)
        index_restore(index, model, walk.next > 0 ? stride : 0, knows == WALK_KNOWS_LOCKS);
    if (walk.next > 0)
        model_restore(model, walk.rest.at, walk.rest.left);
    if (knows == WALK_KNOWS_ALL)
        restore_ended(index, model);
    *merge = walk.merge;
    report_to(merge, reporter);
}

static void free_index(struct index *index)
{
    index_free(index);
    free(index);
}

/* Loads the index, or makes it if it would be kept. The trace does not grow. */
static struct index *find_index(const struct trace *trace)
{
    struct index *index = alloc_zero(1, sizeof(*index));
    char path[PATH_MAX];
    if (index_load(index, trace))
        return index;
    if (trace->ends_early || !index_path(trace, path)) {
        free(index);
        return NULL;
    }
    index_extend(index, trace, 0, NULL);
    index_save(index, trace);
    return index;
}

/* Returns the index if a walk from FROM to TO would take long, and there is one; or NULL. */
static const struct index *index_for(const struct trace *trace, uint64_t from, uint64_t to)
{
    uint64_t bytes = 0;
    double before = to > from ? (double)(to - from) : 0;
    for (unsigned i = 0; i < trace->stream_count; i++)
        bytes += trace->streams[i].size;
    if (before * (double)bytes < WORTH_BYTES * (double)(trace->end - trace->begin))
        return NULL;
    if (!trace->index->is_known)
        *trace->index = (struct trace_index){find_index(trace), true, free_index};
    /* a walk finds damage, which counts wherever it is */
    return trace->index->index != NULL && trace->index->index->losses.damaged == 0 ? trace->index->index
                                                                                   : NULL;
}

void walk_open_late(struct model *model, struct merge *merge, uint64_t begin, struct reporter *reporter)
{
    const struct index *index = index_for(model->trace, model->trace->begin, begin);
    if (index != NULL) {
        walk_open_range(model, merge, index, begin, WALK_KNOWS_ALL, reporter);
        return;
    }
    model_learn_beginning(model);
    merge_open(merge, model->trace, NULL, 0, reporter);
}

/* Whether a part of a stride concerns one of these threads, or is not there. */
static bool concerns(const struct index *index, size_t stride, const uint64_t *segments, uint32_t count,
                     struct tally *sum)
{
    if (!index_sum_stride(index, stride, sum))
        return true;
    for (uint32_t i = 0; i < sum->touched_count; i++)
        if (sum->touched[i] < count && segments[sum->touched[i]] != 0)
            return true;
    return false;
}

bool walk_skip(struct model *model, struct merge *merge, const uint64_t *segments)
{
    const struct index *index = index_for(model->trace, model->now, model->trace->end);
    size_t here = index != NULL ? index_find_time(index, model->now) / INDEX_STRIDE : 0, there = here;
    uint32_t count = model->thread_count;
    struct tally sum;
    struct walk walk;
    if (index == NULL)
        return false;
    tally_open(&sum, model->trace);
    while (there < blob_array_count(&index->checkpoints) && !concerns(index, there, segments, count, &sum))
        there++;
    tally_close(&sum);
    if (there == here)
        return false;
    merge_close(merge);
    walk_open(&walk, model->trace, index, there);
    restore_pieces(index, model, here, there, false);
    model_restore(model, walk.rest.at, walk.rest.left);
    for (uint32_t i = 0; i < count; i++)
        if (segments[i] != 0)
            model->threads[i]->segment = segments[i];
    *merge = walk.merge;
    return true;
}
