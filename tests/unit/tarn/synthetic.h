/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/tarn/synthetic.h - synthetic traces of any size, from the system's real metadata.
 *
 * For benchmarks, comparisons with other readers, unit tests and the fuzzer. Events have the layouts of the
 * metadata and plausible values: what threads do that work (workload.c), or every event alike. Same options,
 * same bytes. Both byte orders are written byte by byte, so they need no machine of their own.
 */
#ifndef TESTS_SYNTHETIC_H
#define TESTS_SYNTHETIC_H

#include <stdio.h>
#include <tools/tarn/read/schema.h>

struct synthetic_options {
    const char *metadata;  /* the schema's metadata, as generated: @NAMES@ are filled in */
    const char *directory; /* made if it is not there */
    const char *order;     /* le or be */
    uint64_t events, cpus, seed;
    uint64_t packet; /* bytes */
    uint64_t freq;   /* of the clock */
    bool uniform;    /* every event of the schema alike, in any order */
    bool losses;     /* some events and packets are lost */
    bool ties;       /* with uniform: many events have equal times */
};
#define SYNTHETIC_DEFAULTS                                                                                  \
    {                                                                                                       \
        .metadata = "build/gen/trace/metadata.tsdl", .order = "le", .events = 100000, .cpus = 4, .seed = 1, \
        .packet = 65536, .freq = 1000000000                                                                 \
    }

/* What is 0 in OPTIONS is as in SYNTHETIC_DEFAULTS. WRITTEN (may be NULL) gets the number of events. */
bool synthetic_write(const struct synthetic_options *options, uint64_t *written, struct fail *fail);

/* Parts of it, for who makes the events himself (trace_text.c). */

/* Metadata with the names filled in; the caller frees it. NULL on failure. */
char *synthetic_metadata(const struct synthetic_options *options, struct fail *fail);
/* Events in the packets of one gap. */
#define SYNTHETIC_LOST 1000u

/* Makes the directory with the metadata in it. */
bool synthetic_start(const struct synthetic_options *options, const char *metadata, struct fail *fail);
void synthetic_store(const struct schema *schema, uint8_t *at, uint64_t value, unsigned width);

#define SYNTHETIC_EVENT_BYTES 1024u /* of the largest event */

/* One processor's stream. */
struct writer {
    const struct schema *schema;
    FILE *file;
    uint8_t *packet;
    uint64_t bytes, used; /* of the packet; used 0: none was begun */
    uint64_t time;        /* of the next event, or of the packet's end */
    uint64_t events;      /* so far, with those that begin and end packets */
    uint64_t first;       /* `events` when the packet began */
    struct synthetic_packet {
        uint64_t begin, discarded, seq, before;
        uint32_t cpu, flags;
    } about; /* the packet */
    /* The thread that runs; callers that need it read it here. */
    uint32_t pid, tid;
    char comm[TRACE_NAME_BYTES];
};

/* Of OPTIONS: directory, packet. Whether or not it opens, writer_close follows. */
bool writer_open(struct writer *writer, const struct synthetic_options *options, const struct schema *schema,
                 uint32_t cpu, struct fail *fail);
bool writer_close(struct writer *writer, struct fail *fail);
void writer_begin(struct writer *writer); /* a packet */
/* Whether an event of BYTES fits, and the packet's end behind it. */
bool writer_has_space(const struct writer *writer, uint64_t bytes);
/* EVENT is whole words; its header is written. */
void writer_append(struct writer *writer, uint32_t id, const uint8_t *event, uint64_t bytes);
void writer_put(struct writer *writer); /* the packet as it is: header, filler */
void writer_end(struct writer *writer); /* an end event, and writer_put */

#endif
