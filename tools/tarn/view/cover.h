/*
 * cover.h - splits a range of time into parts with their sums.
 *
 * Parts are nodes of the index, as large as possible but no wider than the wanted grain. The ends of the
 * range that no node covers are walked, and blocks that are wider than the grain because little happens in
 * them, as long as few events need to be read. A walk makes a part for each grain.
 */
#pragma once

#include <tools/tarn/index/index.h>

struct cover {
    const struct index *index;
    const struct trace *trace;
    uint64_t from, to; /* ticks */
    double grain;      /* ticks: no part is longer, unless walking costs too much; 0: any length */
    double budget;     /* maximum number of events walked apart from the ends: at any time, its share */
    struct tally *sum; /* open and begun; gets all parts, in order and without gaps */
    void (*take)(struct cover *cover, uint64_t end); /* called when one was added; NULL: nobody */
    /* of cover_range */
    uint64_t walked;               /* of the budget */
    struct tally part;             /* that is walked */
    struct buffer node;            /* the same, encoded */
    uint64_t walk_begin, walk_end; /* to be walked; equal: nothing */
};

void cover_range(struct cover *cover);

/* Sums up a range exactly into an open tally. */
void cover_sum(const struct index *index, const struct trace *trace, uint64_t from, uint64_t to,
               struct tally *tally);
