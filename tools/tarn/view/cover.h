/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cover.h - splits a range of time into parts with their sums: nodes of the index, and stretches to be
 * walked.
 *
 * Nodes are as large as possible but no wider than the wanted grain. The ends of the range that no node
 * covers are walked. So are blocks that are wider than the grain because little happens in them, as long as
 * few events need to be read. Each part comes as a tally; a walk makes one for each grain.
 */
#ifndef TARN_COVER_H
#define TARN_COVER_H

#include <tools/tarn/view/index.h>

struct cover {
    const struct index *index;
    const struct trace *trace;
    uint64_t from, to; /* ticks */
    double grain;      /* ticks: no part is longer, unless walking costs too much; 0: any length */
    uint64_t budget;   /* maximum number of events walked apart from the ends */
    /* Gets the parts of the range in order, without gaps. */
    void (*take)(struct cover *cover, const struct tally *part, uint64_t begin, uint64_t end);
    /* of cover_range */
    struct tally part;
    uint64_t walk_begin, walk_end; /* to be walked; equal: nothing */
};

void cover_range(struct cover *cover);

/* Returns an upper estimate of the events in a range: those of all blocks that it touches. */
uint64_t index_events_in(const struct index *index, uint64_t from, uint64_t to);

/* Sums up a range exactly into an open tally. */
void cover_sum(const struct index *index, const struct trace *trace, uint64_t from, uint64_t to,
               struct tally *tally);

/* A time spread over a row of pixels. */
struct spread {
    uint32_t first, last; /* pixels */
    double from, to;      /* in pixels */
};

/* PIXEL: ticks per pixel. */
static inline struct spread spread_over(uint64_t begin, uint64_t end, uint64_t origin, double pixel,
                                        uint32_t width)
{
    struct spread spread = {.from = (double)(begin - origin) / pixel, .to = (double)(end - origin) / pixel};

    spread.first = spread.from < width - 1 ? (uint32_t)spread.from : width - 1;
    spread.last = spread.to < width - 1 ? (uint32_t)spread.to : width - 1;
    return spread;
}

/* Returns the share of the time in PIXEL, 0 to 1. */
static inline double spread_share(const struct spread *spread, uint32_t pixel)
{
    double from = pixel > spread->from ? pixel : spread->from;
    double to = pixel + 1.0 < spread->to ? pixel + 1.0 : spread->to;

    if (spread->first == spread->last)
        return 1;
    return to > from ? (to - from) / (spread->to - spread->from) : 0;
}

#endif
