/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/trace/newest.h - the newest events of some CPUs in order of time, read in place from the rings.
 *
 * For a kernel in a panic or in the debugger: takes no lock, allocates nothing. CPUs may still be logging; a
 * packet that they overwrite meanwhile appears to end early.
 */
#ifndef TRACE_CONTROL_NEWEST_H
#define TRACE_CONTROL_NEWEST_H

#include <kernel/trace/control.h>
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

/* Whether an event counts; called for each one in order. `info` NULL: an unknown type. */
typedef bool trace_event_filter(const struct trace_moment *moment, const struct trace_event_info *info);

/* Counts the events of the newest `packets` packets of each CPU with a bit in `cpus` that pass the filter
 * (NULL: all); the open packet counts. */
uint64_t trace_newest_count(struct trace_newest *newest, uint64_t cpus, uint64_t packets,
                            trace_event_filter *filter);
/* Prints those with a number in [first, end) of the same packets, one call of `print` each. The open packets
 * may have grown. */
void trace_newest_print(struct trace_newest *newest, uint64_t first, uint64_t end, trace_event_filter *filter,
                        trace_print_line *print);

#endif
