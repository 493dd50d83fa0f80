/*
 * slices.h - cuts a trace into slices of time that can be processed in parallel: ranges of nanoseconds, so
 * that events of the same nanosecond, which are ordered by stream, stay together.
 *
 * Only a trace whose packet headers are all correct and in order is cut; in any other, a search by time could
 * find different packets from slice to slice.
 */
#pragma once

#include <tools/tarn/read/filter.h>

struct slice {
    uint64_t from;          /* ticks: where to start reading, at or before from_ns */
    int64_t from_ns, to_ns; /* it contains the events with from_ns <= ns < to_ns */
};

struct slices {
    struct slice *slices;
    unsigned count; /* 0: too short, or not possible */
};

void slices_plan(struct slices *slices, const struct trace *trace, const struct filter *filter);
void slices_free(struct slices *slices);
