/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/trace/newest.h - the newest events of some CPUs in order of time, read in place from the rings.
 *
 * For a kernel in a panic or in the debugger: takes no lock, allocates nothing. CPUs may still be logging; a
 * packet that they overwrite meanwhile appears to end early.
 */
#ifndef TRACE_CONTROL_NEWEST_H
#define TRACE_CONTROL_NEWEST_H

#include <stdint.h>
#include <trace/print/merge.h>

/* Too large for a stack. */
struct trace_newest {
    struct trace_merge merge;
    struct {
        uint64_t number, head; /* packets still to be walked: from number to head */
        uint64_t first;
    } range[TRACE_CPUS_MAX];
};

/* Begins with the oldest event of the newest `packets` packets of each CPU with a bit in `cpus`; the open
 * packet counts. */
void trace_newest_begin(struct trace_newest *newest, uint64_t cpus, uint64_t packets);
/* The same packets once more; the open ones may have grown. */
void trace_newest_again(struct trace_newest *newest);

#endif
