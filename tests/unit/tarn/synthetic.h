/* tests/unit/tarn/synthetic.h - what the files of tracegen share: tracegen.c, synthetic.c, workload.c. */
#pragma once

#include <stdio.h>
#include <tools/tarn/read/schema.h>

#define EVENT_BYTES_MAX 1024u

extern struct options {
    const char *metadata, *directory, *order;
    uint64_t events, cpus, seed, packet, freq;
    bool uniform, losses, ties;
} options;
extern struct schema schema;

struct running {
    uint32_t pid, tid;
    char comm[TRACE_NAME_BYTES];
};

/* One processor's stream. */
struct writer {
    FILE *file;
    uint8_t *packet;
    uint64_t used;                          /* bytes of the packet */
    uint64_t time;                          /* of the next event, or of the packet's end */
    uint64_t events;                        /* so far, with those that begin and end packets */
    uint64_t first;                         /* `events` when the packet began */
    uint64_t begin, discarded, seq, before; /* of the packet */
    uint32_t cpu;
    struct running running; /* the thread */
};

uint64_t draw(uint64_t below); /* 0 up to, not with, BELOW */
void store_number(uint8_t *at, uint64_t value, unsigned width);
/* The body of an event with values at random; EVENT has EVENT_BYTES_MAX. Returns the bytes that it takes. */
uint64_t make_event(struct writer *writer, uint8_t *event, const struct event_type *type);
bool has_space(const struct writer *writer, uint64_t bytes); /* for such an event, and the packet's end */
/* EVENT is whole words; its header is written. */
void append_event(struct writer *writer, uint32_t id, const uint8_t *event, uint64_t bytes);
void begin_packet(struct writer *writer); /* with its context */
void end_packet(struct writer *writer);   /* and perhaps a loss behind it */

/* At least EVENTS events on one processor; each begins the first packet. */
void write_uniform(struct writer *writer, uint64_t events);
void write_workload(struct writer *writer, uint64_t events);
