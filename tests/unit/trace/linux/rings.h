/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/trace/linux/rings.h - Tarn's logging path in a process of Linux: the ring of a thread that stays
 * on its CPU.
 *
 * Two disciplines (trace/ring/README.md): restart.h with the blocks as restartable sequences of Linux,
 * rseq(2), and cas.h. ask.c is what the first needs besides.
 */
#ifndef TESTS_UNIT_TRACE_LINUX_RINGS_H
#define TESTS_UNIT_TRACE_LINUX_RINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <trace/ring/read.h>

/* NULL, or why there is no ring. The memory around it is not mapped. Called again: a new, empty one. */
const char *host_ring_open(uint64_t buffer_bytes, uint64_t buffer_count, enum trace_mode mode);
struct trace_reader host_reader(void);

typedef void host_visit_event(const struct trace_header *event);
/* Calls `visit` for each event, once the open packet is closed. False: a packet is not whole, a time goes
 * back, or events do not end with their packet. */
bool host_ring_read(host_visit_event *visit);

#endif
