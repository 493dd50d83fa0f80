/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/view/cover.h - a range of time as pieces: nodes of the index, and stretches to be walked
 * exactly.
 *
 * Nodes are as large as may be but no wider than the wanted grain. What no node covers, at both ends of the
 * range, is walked; so are blocks that are wider than the grain because little happens there, as long as
 * that costs few events.
 */
#ifndef TARN_COVER_H
#define TARN_COVER_H

#include <tools/tarn/view/index.h>

struct piece {
    uint64_t begin, end; /* ticks */
    size_t node;         /* of its level */
    uint8_t level;
    bool is_exact; /* no node: walk it */
};

struct cover {
    struct piece *pieces; /* in order, without gaps, from FROM to TO */
    size_t count;
};

/* GRAIN in ticks, UINT64_MAX: as large as may be. BUDGET: events that may be walked besides the ends. */
void cover_range(struct cover *cover, const struct index *index, uint64_t from, uint64_t to, uint64_t grain,
                 uint64_t budget);
void cover_free(struct cover *cover);

/* About how many events lie in a range: those of all blocks that it touches. */
uint64_t index_events_in(const struct index *index, uint64_t from, uint64_t to);

/* Sums a range up exactly, into an open tally: nodes, and what is walked at both ends. */
bool cover_sum(const struct index *index, const struct trace *trace, uint64_t from, uint64_t to,
               struct tally *tally, struct fail *fail);

#endif
