/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prefilter.h - finds which parts of a trace may contain an event that a list or a search wants (match.h),
 * without decoding events. A part is a stride: the blocks from one checkpoint of the index to the next.
 *
 * The index has the event types and running threads of a stride. If types alone do not exclude a text or a
 * value, its bytes are searched in the packets, which is many times faster than a walk: strings and the
 * names of running threads are stored literally (a context event has the name at the start of each packet),
 * numbers in the trace's byte order.
 *
 * There are false positives, but no false negatives.
 */
#ifndef TARN_PREFILTER_H
#define TARN_PREFILTER_H

#include <tools/tarn/view/match.h>

/* Whether a packet contains the wanted bytes. Cached, because adjacent strides share packets. */
struct prefilter_scan {
    uint64_t offset, end; /* in the file; end 0: none yet */
    bool has_bytes;
};

struct prefilter_need {
    bool *by_index;               /* by type: matches without searching bytes */
    const char *text;             /* otherwise the bytes contain this, case-insensitive, ... */
    uint8_t number[8];            /* ... or this: a number's bytes without leading zeros */
    unsigned number_size;         /* 0: no number */
    struct prefilter_scan *scans; /* by stream */
};

struct prefilter {
    const struct view *view;
    const struct match *match;
    bool *types;                    /* by type: wanted; NULL: all */
    bool *threads;                  /* by number; NULL: all */
    struct prefilter_need needs[2]; /* all must hold */
    unsigned need_count;
    struct packet_buffer buffer;
};

/* The lock is held for reading until it is closed. */
void prefilter_open(struct prefilter *prefilter, const struct view *view, const struct match *match);
void prefilter_close(struct prefilter *prefilter);
bool prefilter_may_hold(struct prefilter *prefilter, size_t stride);

#endif
