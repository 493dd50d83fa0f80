/* SPDX-License-Identifier: BSD-2-Clause */
/* cover.c - splits a range into pieces; see cover.h. */
#include <stdlib.h>
#include <tools/tarn/view/cover.h>
#include <tools/tarn/view/index_walk.h>

struct coverer {
    struct cover_visitor *visitor;
    const struct index *index;
    uint64_t from, to, grain, budget;
    uint64_t walk_begin, walk_end; /* to be walked; equal: nothing */
};

/* Adjacent parts are walked in one go. */
static void add_walk(struct coverer *coverer, uint64_t begin, uint64_t end)
{
    if (coverer->walk_begin == coverer->walk_end)
        coverer->walk_begin = begin > coverer->from ? begin : coverer->from;
    coverer->walk_end = end < coverer->to ? end : coverer->to;
}

static void finish_walk(struct coverer *coverer)
{
    struct cover_visitor *visitor = coverer->visitor;

    if (coverer->walk_begin == coverer->walk_end)
        return;
    visitor->begin = coverer->walk_begin;
    visitor->end = coverer->walk_end;
    coverer->walk_begin = coverer->walk_end;
    visitor->walk(visitor);
}

static void visit_node(struct coverer *coverer, unsigned level, size_t node, uint64_t begin, uint64_t end)
{
    struct cover_visitor *visitor = coverer->visitor;

    if (begin >= end)
        return;
    finish_walk(coverer);
    visitor->begin = begin;
    visitor->end = end;
    visitor->node(visitor, blob_array_get(&coverer->index->levels[level], node));
}

/* Returns the cost of walking a block: its events, plus those from its checkpoint on if the walk begins with
 * it. */
static uint64_t cost_of(const struct coverer *coverer, size_t block)
{
    const struct index *index = coverer->index;
    bool goes_on = coverer->walk_begin != coverer->walk_end;

    return index_first(index, block + 1) -
           index_first(index, goes_on ? block : block / INDEX_STRIDE * INDEX_STRIDE);
}

static void cover_block(struct coverer *coverer, size_t block, uint64_t begin, uint64_t end)
{
    uint64_t cost = cost_of(coverer, block);

    if (begin < coverer->from || end > coverer->to) {
        add_walk(coverer, begin, end);
    } else if (end - begin > coverer->grain && cost <= coverer->budget) {
        coverer->budget -= cost;
        add_walk(coverer, begin, end);
    } else {
        visit_node(coverer, 0, block, begin, end);
    }
}

static void cover_node(struct coverer *coverer, unsigned level, size_t node)
{
    const struct index *index = coverer->index;
    uint64_t blocks = index_node_blocks(level);
    uint64_t begin = index_begin(index, node * blocks), end = index_begin(index, (node + 1) * blocks);

    if (node * blocks >= index_block_count(index) || end <= coverer->from || begin >= coverer->to)
        return;
    if (level == 0)
        cover_block(coverer, node, begin, end);
    else if (node < blob_array_count(&index->levels[level]) && begin >= coverer->from && end <= coverer->to &&
             end - begin <= coverer->grain)
        visit_node(coverer, level, node, begin, end);
    else
        for (size_t i = 0; i < INDEX_FANOUT; i++)
            cover_node(coverer, level - 1, node * INDEX_FANOUT + i);
}

void cover_range(struct cover_visitor *visitor, const struct index *index, uint64_t from, uint64_t to,
                 uint64_t grain, uint64_t budget)
{
    struct coverer coverer = {visitor, index, from, to, grain, budget, 0, 0};
    unsigned top = INDEX_LEVELS - 1;
    uint64_t blocks = index_node_blocks(top);

    for (size_t node = 0; node * blocks < index_block_count(index); node++)
        cover_node(&coverer, top, node);
    finish_walk(&coverer);
}

uint64_t index_events_in(const struct index *index, uint64_t from, uint64_t to)
{
    if (index_block_count(index) == 0 || from >= to)
        return 0;
    return index_first(index, index_find_time(index, to - 1) + 1) -
           index_first(index, index_find_time(index, from));
}

/* ---- sums ------------------------------------------------------------------------------------------ */

struct accumulator {
    struct cover_visitor visitor;
    struct tally_observer observer;
    struct walk_range range;
    struct tally *sum;
    const struct index *index;
    const struct trace *trace;
};

static void on_event(struct walk_range *range, const struct cursor *cursor, const struct model *model)
{
    const struct accumulator *accumulator = OUTER(range, struct accumulator, range);

    accumulator->observer.tally->events[cursor->event.type->index]++;
}

static void close_segments(struct walk_range *range, const struct model *model, const uint64_t *limits)
{
    struct accumulator *accumulator = OUTER(range, struct accumulator, range);

    tally_open_segments(accumulator->observer.tally, model, limits, range->to);
    accumulator->observer.is_done = true;
}

/* Walks into a tally of its own, and adds that. */
static void sum_walk(struct cover_visitor *visitor)
{
    struct accumulator *accumulator = (struct accumulator *)visitor;
    struct buffer node = {0};
    struct tally tally;

    accumulator->range = (struct walk_range){.from = visitor->begin,
                                             .to = visitor->end,
                                             .observer = &accumulator->observer.observer,
                                             .event = on_event,
                                             .end = close_segments};
    tally_open(&tally, accumulator->trace);
    tally_begin(&tally, visitor->begin);
    tally_observe(&accumulator->observer, &tally);
    walk_range(&accumulator->range, accumulator->trace, accumulator->index);
    tally_encode(&tally, &node);
    tally_close(&tally);
    tally_node(accumulator->sum, (struct buffer_reader){.at = node.bytes, .left = node.used}, visitor->begin,
               visitor->end);
    free(node.bytes);
}

static void sum_node(struct cover_visitor *visitor, struct buffer_reader node)
{
    tally_node(((struct accumulator *)visitor)->sum, node, visitor->begin, visitor->end);
}

void cover_sum(const struct index *index, const struct trace *trace, uint64_t from, uint64_t to,
               struct tally *tally)
{
    struct accumulator accumulator = {
        .visitor = {.node = sum_node, .walk = sum_walk}, .sum = tally, .index = index, .trace = trace};

    tally_begin(tally, from);
    cover_range(&accumulator.visitor, index, from, to, UINT64_MAX, 0);
    tally_extend(tally, to);
}
