/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * user/bin/trace_rings.h - what the trace's buffers hold right now, for programs in the guest: `trace`,
 * tests.
 *
 * Everybody may read the rings; others go on logging meanwhile. Packets are copied one by one, and counted
 * when they cannot be.
 */
#ifndef USER_BIN_TRACE_RINGS_H
#define USER_BIN_TRACE_RINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <trace/ring/read.h>

struct trace_reader ring_of(uint32_t cpu);

/* What a reader found. */
struct ring_findings {
    uint64_t packets;
    uint64_t cut;   /* packets of which only the beginning is good */
    uint64_t lost;  /* packets that were overwritten or are damaged */
    bool restarted; /* the rings were cleared or got another geometry meanwhile: nothing more was read */
};

/* A readable copy of packet `number`, the open one too; `copy` has room for a buffer. False: counted as lost,
 * or nothing in it yet. */
bool copy_packet(const struct trace_reader *ring, uint64_t number, void *copy,
                 struct ring_findings *findings);
/* Walks the events of such a copy. */
void walk_packet(struct trace_walk *walk, const void *copy);

/* Every event of every packet, processor by processor, oldest first. False: no memory. */
typedef void visit_event(void *context, uint32_t cpu, const struct trace_header *event, uint64_t time);
bool visit_rings(visit_event *visit, void *context, struct ring_findings *findings);

#endif
