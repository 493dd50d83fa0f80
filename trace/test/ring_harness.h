/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/test/ring_harness.h - a ring in ordinary memory, hooks into its race windows, and a reader that
 * checks.
 *
 * Around control pages and rings nothing is mapped: a store outside them ends the test program.
 */
#ifndef TRACE_TEST_RING_HARNESS_H
#define TRACE_TEST_RING_HARNESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <trace/ring/read.h>
#include <trace/ring/ring.h>

#define TEST_CPUS 2

/* TAP: says ok or not ok; finish_tests prints the plan and gives the exit status. */
void check(bool good, const char *format, ...) __attribute__((format(printf, 2, 3)));
int finish_tests(void);

/* New, empty rings; tracing on, no hook, this thread on processor 0, clock where it was. */
void setup_rings(uint64_t buffer_bytes, uint64_t buffer_count, enum trace_mode mode);
struct trace_control *control_of_cpu(uint32_t cpu);
char *window_of_cpu(uint32_t cpu);
void jump_clock(uint64_t ticks);
void skew_clock(uint64_t ticks); /* processor 1's lags by so many */

/* What to do when a thread passes `point` for the `nth` time (1 = first); once. Runs in that thread, hooks
 * off. */
void set_hook(enum trace_test_point point, unsigned nth, void (*action)(void));
bool hook_was_run(void);

/* One event, as the reader found it. */
typedef void visit_event(const struct trace_header *event, uint64_t time, void *context);

/* What a reader found in a ring. */
struct findings {
    uint64_t whole, incomplete, cut, lost; /* packets */
    uint64_t events;                       /* without contexts and ends */
    uint64_t
        disorder; /* times that decreased, contents that no walk explains, ends that are not timestamp_end */
};
/* Visits the events of one packet. */
void visit_packet(const struct trace_packet *packet, visit_event *visit, void *context, struct findings *f);
/* Reads one packet; cuts it if it is incomplete; appends it to `file` (or NULL). */
void read_packet(uint32_t cpu, uint64_t number, visit_event *visit, void *context, FILE *file,
                 struct findings *f);
/* Reads packets from `*next` on up to the open one, cuts what is incomplete, visits the events and appends
 * the packets to `file` (or NULL). */
void read_ring(uint32_t cpu, uint64_t *next, visit_event *visit, void *context, FILE *file,
               struct findings *f);
/* The same for both processors from the oldest packet on, after closing the open ones; into a trace
 * directory, if one is named. */
struct findings read_all(visit_event *visit, void *context, const char *directory);
/* Lines that babeltrace2 prints for the directory, contexts and ends left out; -1: it complained. */
long count_by_babeltrace2(const char *directory, const char *file_for_text);

#endif
