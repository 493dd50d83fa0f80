/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/source/pull_writer.h - writes pulled packets as a trace directory, and nothing that it has not
 * checked.
 *
 * The directory holds `metadata` and one file `cpuN` for each processor that sent something. Every file ends
 * at a packet's end at every moment, so whatever stops the writer leaves a valid trace. Until
 * finish_trace_writer it is marked as unfinished (read/read.h).
 */
#ifndef TARN_PULL_WRITER_H
#define TARN_PULL_WRITER_H

#include <tools/tarn/read/schema.h>
#include <tools/tarn/source/source.h>

struct stream_writer {
    int fd; /* -1: no file yet */
    bool started;
    uint64_t packets; /* written */
    uint64_t next;    /* packet number that should come next */
    uint64_t begin;   /* time of the last packet's begin */
    uint64_t end;     /* and of its end */
    uint64_t discarded_first, discarded_last;
    uint64_t cut_off;      /* events, so far */
    uint64_t cut_off_last; /* of these from the last packet: the next one tells */
};

struct trace_writer {
    char *directory;
    int directory_fd;
    int unfinished_fd; /* of the mark; -1: nothing was written yet */
    struct wire_hello hello;
    bool have_metadata;
    bool have_schema; /* `schema` is of the metadata: events are checked, too */
    struct schema schema;
    uint8_t *zeros; /* one buffer */
    struct stream_writer cpu[WIRE_CPUS_MAX];
    /* totals */
    uint64_t packets, events, bytes; /* written; bytes of content */
    uint64_t missing;                /* packet numbers that never came */
    uint64_t refused;                /* packets that failed a check */
    uint64_t cut;                    /* packets whose end was cut off, in the guest or here */
    uint64_t undecoded, cut_off;     /* those cut here, and how many events that lost */
    bool cut_off_is_least;           /* there may be more: some lengths were wrong */
};

/* `force`: a trace that is already there is removed; anything else in the directory makes it fail. */
bool open_trace_writer(struct trace_writer *writer, const char *directory, bool force,
                       const struct wire_hello *hello, struct fail *fail);
/* Both: false only when writing is impossible (or the metadata wrong). A bad packet is counted as refused,
 * one that is cut before an event that does not decode as undecoded; `fail` says why. Lost events are added
 * to `events_discarded` of all packets behind the cut one, so every reader counts them. If the metadata
 * cannot be parsed, have_schema is false, `fail` says why, and only the events' lengths are checked. */
bool write_metadata(struct trace_writer *writer, const uint8_t *text, size_t size, struct fail *fail);
bool write_packet(struct trace_writer *writer, const struct source_item *item, struct fail *fail);
/* Whether all that was written can be found in the directory. False: somebody removed or changed it. */
bool check_trace_writer(const struct trace_writer *writer, struct fail *fail);
/* Ends each stream with what the guest said last of it: if packets before `cpu->head` or events counted as
 * discarded are not in the trace yet, a packet without events says so (TRACE_PACKET_CLOSING). `is_whole`:
 * they are final; else the packet `cpu->head` was not sent either. */
bool write_closing(struct trace_writer *writer, const struct wire_status *status,
                   const struct wire_cpu_status *cpu, bool is_whole, struct fail *fail);
/* All losses are told: the trace is not unfinished any more. */
bool finish_trace_writer(struct trace_writer *writer, struct fail *fail);
uint64_t count_discarded(const struct trace_writer *writer); /* events, while the pull ran */
void close_trace_writer(struct trace_writer *writer);

#endif
