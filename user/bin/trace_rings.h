/*
 * trace_rings.h - reads the current contents of the rings, for programs in the guest: `trace`, tests.
 *
 * All programs may read the rings, while others continue to log. Packets are copied one by one; those that
 * cannot be copied are counted.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <trace/ring/read.h>

struct trace_reader ring_of(uint32_t cpu);

/* What a reader could and could not read. */
struct ring_findings {
    uint64_t packets;
    uint64_t cut;   /* packets of which only the beginning is valid */
    uint64_t lost;  /* packets that were overwritten or are damaged */
    bool restarted; /* the rings were cleared or resized, and reading stopped */
};

/* Copies packet `number`, which may be the open one, to `copy`, which must hold a buffer. False: counted as
 * lost, or still empty. */
bool copy_packet(const struct trace_reader *ring, uint64_t number, void *copy,
                 struct ring_findings *findings);
/* Begins to walk the events of such a copy. */
void walk_packet(struct trace_walk *walk, const void *copy);

/* Visits every event of every packet, CPU by CPU, oldest first. False: out of memory. */
typedef void visit_event(void *context, uint32_t cpu, const struct trace_header *event, uint64_t time);
bool visit_rings(visit_event *visit, void *context, struct ring_findings *findings);
