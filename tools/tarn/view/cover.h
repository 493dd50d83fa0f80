/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cover.h - splits a range of time into nodes of the index, and stretches to be walked exactly.
 *
 * Nodes are as large as possible but no wider than the wanted grain. The ends of the range that no node
 * covers are walked. So are blocks that are wider than the grain because little happens in them, as long as
 * few events need to be read.
 */
#ifndef TARN_COVER_H
#define TARN_COVER_H

#include <tools/tarn/view/index.h>

struct piece {
    uint64_t begin, end; /* ticks */
    size_t node;         /* its index on the level */
    uint8_t level;
    bool is_exact; /* not a node: walk it */
};

struct cover {
    struct piece *pieces; /* in order, without gaps, from FROM to TO */
    size_t count;
};

/* GRAIN: maximum width of nodes in ticks; UINT64_MAX: any. BUDGET: maximum number of events walked apart
 * from the ends. */
void cover_range(struct cover *cover, const struct index *index, uint64_t from, uint64_t to, uint64_t grain,
                 uint64_t budget);
void cover_free(struct cover *cover);

/* Returns an upper estimate of the events in a range: those of all blocks that it touches. */
uint64_t index_events_in(const struct index *index, uint64_t from, uint64_t to);

/* Sums up a range exactly into an open tally: nodes, and walks at both ends. */
bool cover_sum(const struct index *index, const struct trace *trace, uint64_t from, uint64_t to,
               struct tally *tally, struct fail *fail);

#endif
