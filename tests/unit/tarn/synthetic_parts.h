/* SPDX-License-Identifier: BSD-2-Clause */
/* tests/unit/tarn/synthetic_parts.h - what the files that write synthetic traces share: synthetic.c,
 * workload.c. */
#ifndef TESTS_SYNTHETIC_PARTS_H
#define TESTS_SYNTHETIC_PARTS_H

#include <tests/unit/tarn/synthetic.h>

#define SYNTHETIC_THREADS 100u

struct generator {
    struct synthetic_options options;
    struct schema schema;
    uint64_t random;
    uint64_t written;
};

uint64_t generator_draw(struct generator *gen, uint64_t below); /* 0 up to, not with, BELOW */
/* The body of an event with values at random; EVENT has SYNTHETIC_EVENT_BYTES. Returns the bytes that it
 * takes. */
uint64_t generator_make(struct generator *gen, struct writer *writer, uint8_t *event,
                        const struct event_type *type);
void generator_begin(struct generator *gen, struct writer *writer); /* a packet, with its context */
void generator_end(struct generator *gen, struct writer *writer);   /* and perhaps a loss behind it */

/* At least EVENTS events of threads that work on one processor; begins the first packet. */
void workload_write(struct generator *gen, struct writer *writer, uint64_t events);

#endif
