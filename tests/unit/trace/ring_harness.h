/*
 * tests/unit/trace/ring_harness.h - rings in ordinary memory, hooks into their race rings, and a checking
 * reader.
 *
 * The memory around control pages and rings is unmapped: a store outside them ends the test program.
 */
#pragma once

#include <stdint.h>
#include <tests/tap.h>
#include <trace/ring/read.h>
#include <trace/ring/ring.h>

#define TEST_CPUS 2

/* New, empty rings; tracing on, no hook, this thread on CPU 0, clock unchanged. */
void setup_rings(uint64_t buffer_bytes, uint64_t buffer_count, enum trace_mode mode);
struct trace_control *control_of_cpu(uint32_t cpu);
char *ring_of_cpu(uint32_t cpu);
void jump_clock(uint64_t ticks);
void skew_clock(uint64_t ticks); /* makes CPU 1's clock lag by this much */

/* Calls `action` once, when a thread passes `point` for the `nth` time (1 = first); in that thread, with
 * hooks off. */
void set_hook(enum trace_test_point point, unsigned nth, void (*action)(void));
bool hook_was_run(void);

/* One event, as the reader returned it. */
typedef void visit_event(const struct trace_header *event, uint64_t time, void *context);

/* Results of reading a ring. */
struct findings {
    uint64_t whole, incomplete, cut, lost; /* packets */
    uint64_t events;                       /* without contexts and ends */
    /* times that decreased, contents that do not decode, ends that differ from timestamp_end */
    uint64_t disorder;
};
/* Visits the events of one packet. */
void visit_packet(const struct trace_packet *packet, visit_event *visit, void *context, struct findings *f);
/* Reads one packet; cuts it if it is incomplete; appends it to `file` (or NULL). */
void read_packet(uint32_t cpu, uint64_t number, visit_event *visit, void *context, FILE *file,
                 struct findings *f);
/* Reads packets from `*next` up to the open one, cuts incomplete ones, visits the events and appends the
 * packets to `file` (or NULL). */
void read_ring(uint32_t cpu, uint64_t *next, visit_event *visit, void *context, FILE *file,
               struct findings *f);
/* The same for both CPUs from the oldest packet on, after closing the open ones; writes a trace directory, if
 * given. */
struct findings read_all(visit_event *visit, void *context, const char *directory);
/* Lines that babeltrace2 prints for the directory, without contexts and ends; -1: it reported an error. */
long count_by_babeltrace2(const char *directory, const char *file_for_text);
