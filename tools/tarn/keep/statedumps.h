/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * statedumps.h - the statedumps that a pull has requested.
 *
 * A trace without its oldest packets needs a statedump for the names in it. So a pull requests them now and
 * then, one at a time, and the head of the trace is cut where one begins.
 */
#ifndef TARN_STATEDUMPS_H
#define TARN_STATEDUMPS_H

#include <tools/tarn/tarn.h>

#define STATEDUMPS_MAX 64u

struct statedumps {
    /* Oldest first: ticks; all of the statedump is later. Those that the guest has confirmed, and the one
     * asked for. */
    uint64_t begins[STATEDUMPS_MAX];
    unsigned count;
    bool is_asked;    /* the last one is not yet confirmed */
    bool is_possible; /* the source takes requests, and has refused none */
};

/* TIME: the end of the last packet. Not while one is asked for. */
void statedumps_ask(struct statedumps *dumps, uint64_t time);
/* The guest has replied. */
void statedumps_confirm(struct statedumps *dumps, bool is_done);
/* The link broke: no reply will come. */
void statedumps_forget(struct statedumps *dumps);
/* The confirmed ones are begins[0] to begins[n - 1]. */
static inline unsigned statedumps_known(const struct statedumps *dumps)
{
    return dumps->count - dumps->is_asked;
}

#endif
