/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * interval.h - analyses of consecutive intervals of a trace, which may grow meanwhile.
 *
 * Each event is read once: at the end of an interval, the model and the positions in the streams are saved,
 * and the next interval continues from there.
 */
#ifndef TARN_INTERVAL_H
#define TARN_INTERVAL_H

#include <tools/tarn/analysis/analysis.h>
#include <tools/tarn/buffer.h>
#include <tools/tarn/read/order.h>

struct intervals {
    const struct trace *trace;
    uint64_t from; /* ticks: start of the next interval */
    bool has_begun;
    struct position *positions; /* by rank */
    struct buffer model;
    struct names names;
};

void intervals_open(struct intervals *intervals, const struct trace *trace);
void intervals_close(struct intervals *intervals);
/* Computes ANALYSES (0: only walks) for the time up to TO.
 * FILTER is resolved; its `from` and `to` are set here. */
bool intervals_ask(struct intervals *intervals, uint64_t to, struct analysis **analyses, unsigned count,
                   struct filter *filter, struct reporter *reporter, struct fail *fail);

#endif
