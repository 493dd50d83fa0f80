/* index.c - look-ups in the index; see index.h. */
#include <tools/tarn/index/index.h>

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
    return index_sum_nodes(index, 0, first, left < INDEX_STRIDE ? left : INDEX_STRIDE, sum);
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

void index_restore(const struct index *index, struct model *model, size_t from, size_t to, bool only_locks)
{
    if (from == 0)
        model_restore_snapshot(model, index->beginning.bytes, index->beginning.used, only_locks);
    for (size_t i = from; i < to; i++) {
        struct buffer_reader piece = blob_array_get(&index->snapshots, i);
        model_restore_snapshot(model, piece.at, piece.left, only_locks);
    }
}
