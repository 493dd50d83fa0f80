/* index_walk.c - walks that begin at a checkpoint; see index.h. */
#include <tools/tarn/index/index.h>

#define WORTH_BYTES (32.0 * (1 << 20)) /* of the trace: a walk over less takes no time */

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
        index_restore(index, model, 0, walk.next > 0 ? stride : 0, knows == WALK_KNOWS_LOCKS);
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
    index_restore(index, model, here, there, false);
    model_restore(model, walk.rest.at, walk.rest.left);
    for (uint32_t i = 0; i < count; i++)
        if (segments[i] != 0)
            model->threads[i]->segment = segments[i];
    *merge = walk.merge;
    return true;
}
