/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/top/interval.h - answers about one interval after the other of a trace, which may grow
 * meanwhile.
 *
 * Each event is walked over once: at the end of an interval the model is saved and the places in the streams
 * are kept, and the next one goes on from there.
 */
#ifndef TARN_INTERVAL_H
#define TARN_INTERVAL_H

#include <tools/tarn/answer/answer.h>
#include <tools/tarn/buffer.h>
#include <tools/tarn/read/order.h>

struct intervals {
    const struct trace *trace;
    uint64_t from; /* ticks: where the next one begins */
    bool has_begun;
    struct position *positions; /* by rank */
    struct buffer model;
    struct names names;
};

void intervals_open(struct intervals *intervals, const struct trace *trace);
void intervals_close(struct intervals *intervals);
/* Asks ANSWERS (0: only walks) about the time up to TO. FILTER is resolved; its from and to are set. */
bool intervals_ask(struct intervals *intervals, uint64_t to, struct answer **answers, unsigned count,
                   struct filter *filter, struct reporter *reporter, struct fail *fail);

#endif
