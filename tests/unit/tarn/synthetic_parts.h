/* SPDX-License-Identifier: BSD-2-Clause */
/* tests/unit/tarn/synthetic_parts.h - what the files that write synthetic traces share: synthetic.c,
 * workload.c. */
#ifndef TESTS_SYNTHETIC_PARTS_H
#define TESTS_SYNTHETIC_PARTS_H

#include <stdio.h>
#include <tests/unit/tarn/synthetic.h>
#include <tools/tarn/read/schema.h>

#define SYNTHETIC_THREADS 100u
#define SYNTHETIC_DEPTH   4u

struct generator {
    struct synthetic_options options;
    struct schema schema;
    const struct event_type *pick[4096]; /* an even draw gives the mix */
    unsigned picks;
    uint64_t random;
    uint64_t written;
};

/* One processor's stream. */
struct writer {
    FILE *file;
    uint8_t *packet;
    uint64_t used; /* bytes */
    uint64_t time, begin, discarded, seq, events;
    uint64_t before, first; /* `events_before`, and `events` when the packet began */
    uint32_t cpu, pid, tid;
    char comm[TRACE_NAME_BYTES];
    struct {
        const struct event_type *end; /* of what the thread is in, innermost last */
        uint64_t detail;
    } inside[SYNTHETIC_THREADS][SYNTHETIC_DEPTH];
    uint8_t depth[SYNTHETIC_THREADS];
};

uint64_t generator_draw(struct generator *gen, uint64_t below); /* 0 up to, not with, BELOW */
/* An event at the writer's time with values at random; EVENT has 1024 bytes. Returns the bytes that it takes.
 */
uint64_t generator_make(struct generator *gen, struct writer *writer, uint8_t *event,
                        const struct event_type *type);
void writer_start(struct generator *gen, struct writer *writer); /* a packet */
void writer_finish(struct generator *gen, struct writer *writer);
/* The packet has space: 8 bytes are kept for the end event. */
void writer_append(struct writer *writer, const uint8_t *event, uint64_t bytes);

/* At least EVENTS events of threads that work on one processor; starts the first packet. */
void workload_write(struct generator *gen, struct writer *writer, uint64_t events);

#endif
