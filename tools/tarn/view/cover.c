/* SPDX-License-Identifier: BSD-2-Clause */
/* cover.c - splits a range into pieces; see cover.h. */
#include <stdlib.h>
#include <tools/tarn/view/cover.h>
#include <tools/tarn/view/index_walk.h>

struct coverer {
    struct cover *cover;
    const struct index *index;
    uint64_t from, to, grain, budget;
    size_t room;
};

static void add_piece(struct coverer *coverer, struct piece piece)
{
    struct cover *cover = coverer->cover;

    if (piece.begin < coverer->from)
        piece.begin = coverer->from;
    if (piece.end > coverer->to)
        piece.end = coverer->to;
    if (piece.begin >= piece.end)
        return;
    /* Adjacent exact pieces are walked in one go. */
    if (piece.is_exact && cover->count > 0 && cover->pieces[cover->count - 1].is_exact) {
        cover->pieces[cover->count - 1].end = piece.end;
        return;
    }
    if (cover->count == coverer->room) {
        coverer->room = coverer->room ? 2 * coverer->room : 256;
        cover->pieces = alloc_more(cover->pieces, coverer->room, sizeof(cover->pieces[0]));
    }
    cover->pieces[cover->count++] = piece;
}

/* Returns the cost of walking a block: its events, plus
 * those from its checkpoint on if the walk begins with it. */
static uint64_t cost_of(const struct coverer *coverer, size_t block)
{
    const struct index *index = coverer->index;
    const struct cover *cover = coverer->cover;
    bool goes_on = cover->count > 0 && cover->pieces[cover->count - 1].is_exact;

    return index_first(index, block + 1) -
           index_first(index, goes_on ? block : block / INDEX_STRIDE * INDEX_STRIDE);
}

static void cover_block(struct coverer *coverer, struct piece piece)
{
    bool is_whole = piece.begin >= coverer->from && piece.end <= coverer->to;

    if (!is_whole) {
        piece.is_exact = true;
    } else if (piece.end - piece.begin > coverer->grain) {
        uint64_t cost = cost_of(coverer, piece.node);

        piece.is_exact = cost <= coverer->budget;
        if (piece.is_exact)
            coverer->budget -= cost;
    }
    add_piece(coverer, piece);
}

static void cover_node(struct coverer *coverer, unsigned level, size_t node)
{
    const struct index *index = coverer->index;
    uint64_t blocks = index_node_blocks(level);
    struct piece piece = {.begin = index_begin(index, node * blocks),
                          .end = index_begin(index, (node + 1) * blocks),
                          .node = node,
                          .level = (uint8_t)level};

    if (node * blocks >= index_block_count(index) || piece.end <= coverer->from || piece.begin >= coverer->to)
        return;
    if (level == 0) {
        cover_block(coverer, piece);
    } else if (node < blob_array_count(&index->levels[level]) && piece.begin >= coverer->from &&
               piece.end <= coverer->to && piece.end - piece.begin <= coverer->grain) {
        add_piece(coverer, piece);
    } else {
        for (size_t i = 0; i < INDEX_FANOUT; i++)
            cover_node(coverer, level - 1, node * INDEX_FANOUT + i);
    }
}

void cover_range(struct cover *cover, const struct index *index, uint64_t from, uint64_t to, uint64_t grain,
                 uint64_t budget)
{
    struct coverer coverer = {
        .cover = cover, .index = index, .from = from, .to = to, .grain = grain, .budget = budget};
    unsigned top = INDEX_LEVELS - 1;
    uint64_t blocks = index_node_blocks(top);

    *cover = (struct cover){0};
    for (size_t node = 0; node * blocks < index_block_count(index); node++)
        cover_node(&coverer, top, node);
}

void cover_free(struct cover *cover)
{
    free(cover->pieces);
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
    struct tally_observer observer;
    struct walk_range range;
};

static void take_event(struct walk_range *range, const struct cursor *cursor, const struct model *model)
{
    const struct accumulator *accumulator =
        (struct accumulator *)((char *)range - offsetof(struct accumulator, range));

    accumulator->observer.tally->events[cursor->event.type->index]++;
}

static void close_segments(struct walk_range *range, const struct model *model, const uint64_t *limits)
{
    struct accumulator *accumulator =
        (struct accumulator *)((char *)range - offsetof(struct accumulator, range));

    tally_open_segments(accumulator->observer.tally, model, limits, range->to);
    accumulator->observer.is_done = true;
}

/* Walks a piece into a tally of its own, and adds that. */
static bool sum_walk(struct tally *sum, const struct index *index, const struct trace *trace,
                     const struct piece *piece, struct fail *fail)
{
    struct tally tally;
    struct accumulator accumulator = {.range = {.from = piece->begin,
                                                .to = piece->end,
                                                .observer = &accumulator.observer.observer,
                                                .event = take_event,
                                                .end = close_segments}};
    bool fine;

    tally_open(&tally, trace);
    tally_begin(&tally, piece->begin);
    tally_observe(&accumulator.observer, &tally);
    fine = walk_range(&accumulator.range, trace, index, fail);
    tally_add(sum, &tally, piece->end);
    tally_close(&tally);
    return fine;
}

bool cover_sum(const struct index *index, const struct trace *trace, uint64_t from, uint64_t to,
               struct tally *tally, struct fail *fail)
{
    struct cover cover;
    bool fine = true;

    tally_begin(tally, from);
    cover_range(&cover, index, from, to, UINT64_MAX, 0);
    for (size_t i = 0; i < cover.count && fine; i++) {
        const struct piece *piece = &cover.pieces[i];

        if (piece->is_exact)
            fine = sum_walk(tally, index, trace, piece, fail);
        else
            tally_node(tally, blob_array_get(&index->levels[piece->level], piece->node), piece->begin,
                       piece->end);
    }
    cover_free(&cover);
    tally_extend(tally, to);
    return fine && (!tally->is_broken || fail_set(fail, "the index is damaged; remove its file"));
}
