/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/view/sieve.h - which parts of a trace may hold an event that a list or a search wants (match.h),
 * without a look at the events. A part is a stride: the blocks from one checkpoint of the index to the next.
 *
 * The index tells which types of events a stride has and which threads ran there. A text or a value that the
 * types alone do not rule out is looked for in the bytes of the packets, which is many times as fast as a
 * walk: strings and the names of who runs lie there as they are (a context event tells the name at the begin
 * of each packet), numbers in the byte order of the trace.
 *
 * A stride that may hold none holds none; one that may need not.
 */
#ifndef TARN_SIEVE_H
#define TARN_SIEVE_H

#include <tools/tarn/view/match.h>

/* Whether a packet has the bytes that are wanted; strides that follow each other share packets. */
struct sieve_scan {
    uint64_t offset, end; /* in the file; end 0: none yet */
    bool has_bytes;
};

/* What an event needs to match. */
struct sieve_need {
    bool *by_index;           /* by type: the bytes need not be looked at */
    const char *text;         /* otherwise they have this, whatever the case, ... */
    uint8_t number[8];        /* ... or this: the bytes of a number but for zeros before it */
    unsigned number_size;     /* 0: no number */
    struct sieve_scan *scans; /* by stream */
};

struct sieve {
    const struct view *view;
    const struct match *match;
    bool *types;                /* by type: is wanted; NULL: all events are */
    bool *threads;              /* by number; NULL: all */
    struct sieve_need needs[2]; /* all of them */
    unsigned need_count;
    struct packet_buffer buffer;
};

/* With the lock held for reading until it is closed. */
void sieve_open(struct sieve *sieve, const struct view *view, const struct match *match);
void sieve_close(struct sieve *sieve);
bool sieve_may_hold(struct sieve *sieve, size_t stride);

#endif
