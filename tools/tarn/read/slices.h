/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/read/slices.h - cuts a trace into slices of time that can be worked on side by side.
 *
 * A slice is a range of nanoseconds, so that events of one nanosecond, whose order goes by stream, stay
 * together. Only a trace whose packet headers are all fine and in order is cut: in any other a search by
 * time could find different packets from one slice to the next.
 */
#ifndef TARN_SLICES_H
#define TARN_SLICES_H

#include <tools/tarn/read/filter.h>

struct slice {
    uint64_t from;          /* ticks: where to start reading, at or before from_ns */
    int64_t from_ns, to_ns; /* events with from_ns <= ns < to_ns are its own */
};

struct slices {
    struct slice *slices;
    unsigned count; /* 0: not worth it, or not possible */
};

void slices_plan(struct slices *slices, const struct trace *trace, const struct filter *filter);
void slices_free(struct slices *slices);

#endif
