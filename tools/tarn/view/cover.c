/* cover.c - splits a range into pieces; see cover.h. */
#include <tools/tarn/view/cover.h>

static void add_part(struct cover *cover, struct buffer_reader node, uint64_t begin, uint64_t end)
{
    tally_add(cover->sum, node, begin, end);
    if (cover->take != NULL)
        cover->take(cover, end);
}

struct cutter {
    struct cover *cover;
    struct model model;
    struct merge merge;
    uint64_t begin; /* of the part */
    uint64_t grain; /* number of the next border of grains ... */
    uint64_t next;  /* ... and its time; ticks */
};

/* Ends a part. All events before AT have been taken. */
static void cut(struct cutter *cutter, uint64_t at)
{
    struct tally *part = &cutter->cover->part;
    struct buffer *node = &cutter->cover->node;
    if (at <= cutter->begin)
        return;
    tally_open_segments(part, &cutter->model, &cutter->merge, at);
    node->used = 0;
    tally_encode(part, node);
    add_part(cutter->cover, (struct buffer_reader){.at = node->bytes, .left = node->used}, cutter->begin, at);
    tally_begin(part, at);
    model_begin_stays(&cutter->model, at);
    cutter->begin = at;
}

/* Sets the next border of grains. At a whole nanosecond, because events are sorted by them. */
static void set_next(struct cutter *cutter)
{
    const struct cover *cover = cutter->cover;
    const struct schema *schema = &cover->trace->schema;
    uint64_t at = cover->from + (uint64_t)((double)++cutter->grain * cover->grain);
    cutter->next = cover->grain > 0 ? schema_ticks(schema, schema_ns(schema, at)) : UINT64_MAX;
}

static void cut_until(struct cutter *cutter, uint64_t ticks)
{
    for (; cutter->next <= ticks; set_next(cutter))
        cut(cutter, cutter->next);
}

static void take_events(struct cutter *cutter, uint64_t end)
{
    struct cursor *cursor = merge_next(&cutter->merge), *moved;
    walk_begin(&cutter->model, &cutter->merge);
    while (cursor != NULL && cursor->ticks < end) {
        cut_until(cutter, cursor->ticks);
        cutter->cover->part.events[cursor->event.type->index] += cursor->ticks >= cutter->begin;
        model_apply(&cutter->model, moved = cursor);
        cursor = merge_next(&cutter->merge);
        walk_look_ahead(&cutter->model, moved);
    }
    cut_until(cutter, end);
    cut(cutter, end);
}

static void walk_parts(struct cover *cover)
{
    struct cutter cutter = {.cover = cover, .begin = cover->walk_begin};
    if (cover->walk_begin == cover->walk_end)
        return;
    model_open(&cutter.model, cover->trace, cover->walk_begin, cover->walk_end);
    walk_open_range(&cutter.model, &cutter.merge, cover->index, cover->walk_begin, WALK_KNOWS_NOTHING, NULL);
    tally_observe(&cover->part, &cutter.model);
    model_begin_range(&cutter.model);
    tally_begin(&cover->part, cutter.begin);
    if (cover->grain > 0)
        cutter.grain = (uint64_t)((double)(cutter.begin - cover->from) / cover->grain);
    set_next(&cutter);
    take_events(&cutter, cover->walk_end);
    merge_close(&cutter.merge);
    model_close(&cutter.model);
    cover->walk_begin = cover->walk_end;
}

/* Adjacent blocks are walked in one go. */
static void add_walk(struct cover *cover, uint64_t begin, uint64_t end)
{
    if (cover->walk_begin == cover->walk_end)
        cover->walk_begin = begin > cover->from ? begin : cover->from;
    cover->walk_end = end < cover->to ? end : cover->to;
}

static bool is_fine(const struct cover *cover, uint64_t begin, uint64_t end)
{
    return cover->grain <= 0 || end - begin <= (uint64_t)cover->grain;
}

static void take_node(struct cover *cover, unsigned level, size_t node, uint64_t begin, uint64_t end)
{
    if (begin >= end)
        return;
    walk_parts(cover);
    add_part(cover, blob_array_get(&cover->index->levels[level], node), begin, end);
}

/* Returns the cost of walking a block: its events, plus those from its checkpoint on if the walk begins with
 * it. */
static uint64_t cost_of(const struct cover *cover, size_t block)
{
    const struct index *index = cover->index;
    bool goes_on = cover->walk_begin != cover->walk_end;
    return index_first(index, block + 1) -
           index_first(index, goes_on ? block : block / INDEX_STRIDE * INDEX_STRIDE);
}

static void cover_block(struct cover *cover, size_t block, uint64_t begin, uint64_t end)
{
    uint64_t cost = cost_of(cover, block);
    double may_walk = cover->budget * (double)(end - cover->from) / (double)(cover->to - cover->from);
    if (begin < cover->from || end > cover->to) {
        add_walk(cover, begin, end);
    } else if (!is_fine(cover, begin, end) && (double)(cover->walked + cost) <= may_walk) {
        cover->walked += cost;
        add_walk(cover, begin, end);
    } else {
        take_node(cover, 0, block, begin, end);
    }
}

static void cover_node(struct cover *cover, unsigned level, size_t node)
{
    const struct index *index = cover->index;
    uint64_t blocks = index_node_blocks(level);
    uint64_t begin = index_begin(index, node * blocks), end = index_begin(index, (node + 1) * blocks);
    if (node * blocks >= index_block_count(index) || end <= cover->from || begin >= cover->to)
        return;
    if (level == 0)
        cover_block(cover, node, begin, end);
    else if (node < blob_array_count(&index->levels[level]) && begin >= cover->from && end <= cover->to &&
             is_fine(cover, begin, end))
        take_node(cover, level, node, begin, end);
    else
        for (size_t i = 0; i < INDEX_FANOUT; i++)
            cover_node(cover, level - 1, node * INDEX_FANOUT + i);
}

void cover_range(struct cover *cover)
{
    unsigned top = INDEX_LEVELS - 1;
    uint64_t blocks = index_node_blocks(top);
    tally_open(&cover->part, cover->trace);
    for (size_t node = 0; node * blocks < index_block_count(cover->index); node++)
        cover_node(cover, top, node);
    walk_parts(cover);
    tally_close(&cover->part);
    free(cover->node.bytes);
}

void cover_sum(const struct index *index, const struct trace *trace, uint64_t from, uint64_t to,
               struct tally *tally)
{
    struct cover cover = {.index = index, .trace = trace, .from = from, .to = to, .sum = tally};
    tally_begin(tally, from);
    cover_range(&cover);
    tally_extend(tally, to);
}
