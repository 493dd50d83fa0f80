/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/control/newest.h - the newest events of some processors in order of time, read in the rings
 * themselves.
 *
 * For a kernel that is about to end, and for one that stands still: takes no lock, allocates nothing. Others
 * may still be logging; what they overwrite meanwhile shows as a packet that ends early.
 */
#ifndef TRACE_CONTROL_NEWEST_H
#define TRACE_CONTROL_NEWEST_H

#include <stdint.h>
#include <trace/event/merge.h>

/* Too large for a stack. */
struct trace_newest {
    struct trace_merge merge; /* for trace_merge_next */
    struct {
        uint64_t number, head; /* packets still to be walked: from number to head */
    } range[TRACE_CPUS_MAX];
};

/* Begins with the oldest event of the newest `packets` packets of each processor in `cpus`, a bit each; the
 * one that is not full yet counts as one. */
void trace_newest_begin(struct trace_newest *newest, uint64_t cpus, uint64_t packets);

#endif
