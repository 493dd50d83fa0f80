/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/tarn/synthetic.h - synthetic traces of any size, from the system's real metadata.
 *
 * For benchmarks, comparisons with other readers, unit tests and the fuzzer. Events have the layouts of the
 * metadata and plausible values; the mix is that of a busy system, or every event alike, or what threads do
 * that work (workload.c). Same options, same bytes. Both byte orders are written byte by byte, so they need
 * no machine of their own.
 */
#ifndef TESTS_SYNTHETIC_H
#define TESTS_SYNTHETIC_H

#include <tools/tarn/read/schema.h>

struct synthetic_options {
    const char *metadata;  /* the schema's metadata, as generated: @NAMES@ are filled in */
    const char *directory; /* made if it is not there */
    const char *order;     /* le or be */
    uint64_t events, cpus, seed;
    uint64_t packet; /* bytes */
    uint64_t freq;   /* of the clock */
    bool uniform;    /* every event of the schema alike */
    bool work;       /* threads that work: calls, IPC, faults and interrupts nest as they do in a system */
    bool losses;     /* some events and packets are lost */
    bool ties;       /* many events have equal times */
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
/* The header of an event. */
void synthetic_event(const struct schema *schema, uint8_t *event, uint32_t id, uint64_t words, uint64_t time);
/* Header and filler of a packet of SIZE bytes, USED by the header and events up to the end event. */
struct synthetic_packet {
    uint64_t begin, end, discarded, seq, before;
    uint32_t cpu, flags;
};
void synthetic_packet(const struct schema *schema, uint8_t *packet, uint64_t used, uint64_t size,
                      const struct synthetic_packet *about);

#endif
