/*
 * pull_writer.h - validates pulled packets and writes them to a trace directory. Every file always ends at
 * the end of a packet, so the trace is valid whenever the writer stops.
 */
#pragma once

#include <tools/tarn/buffer.h>
#include <tools/tarn/read/schema.h>
#include <tools/tarn/source/source.h>

/* A packet as it is in the file. */
struct packet_place {
    uint64_t offset, begin, discarded;
};

struct stream_writer {
    int fd; /* -1: no file yet */
    bool started;
    uint64_t bytes;   /* of the file: packets have different sizes */
    uint64_t packets; /* number in the file */
    struct packet_place *places;
    size_t place_capacity;
    uint64_t removed_bytes; /* before them (head_cut.h) */
    uint64_t next;          /* number of the packet expected next */
    uint64_t begin;         /* start time of the last packet */
    uint64_t end;           /* end time of the last packet */
    uint64_t discarded_first, discarded_last;
    uint64_t discarded_base; /* count - `events_discarded` in the file, which begins with 0 */
    uint64_t events;         /* logged up to the end of the last packet's written part: as `events_before` */
    uint64_t cut_off;        /* events so far; of the last packet when the next one tells */
    /* of the last packet: */
    bool is_cut; /* in the guest or here */
    bool is_cut_here;
    bool is_closed; /* it is a closing packet, or of rows behind one */
};

struct trace_writer {
    char *directory;
    int directory_fd;
    int unfinished_fd; /* of the mark; -1: nothing written yet */
    struct wire_hello hello;
    bool have_metadata;
    uint64_t metadata_hash;
    struct schema schema; /* of the metadata */
    uint8_t *zeros;       /* of the largest buffer */
    struct stream_writer cpu[WIRE_CPUS_MAX];
    /* totals */
    uint64_t packets, events, bytes; /* written; bytes: of content */
    uint64_t missing;                /* packet numbers that never arrived */
    uint64_t refused;                /* packets that failed a check */
    uint64_t cut;                    /* packets that were cut, in the guest or here */
    uint64_t undecoded;              /* those that were cut here */
    uint64_t cut_off;                /* events lost by cutting; those before a gap count with the gap */
    bool cut_off_is_least;           /* a minimum: nothing tells how many some packets had */
};

/* Returns the start time of packet NUMBER in the file; UINT64_MAX: there is none. */
static inline uint64_t stream_begin(const struct stream_writer *stream, uint64_t number)
{
    return number < stream->packets ? stream->places[number].begin : UINT64_MAX;
}

/* To the byte order of the guest's packets, or from it. */
static inline uint64_t writer_64(const struct trace_writer *writer, uint64_t value)
{
    return hello_is_native(&writer->hello) ? value : __builtin_bswap64(value);
}

/* FORCE: replace an existing trace. A directory with other files is an error. */
bool open_trace_writer(struct trace_writer *writer, const char *directory, bool force,
                       const struct wire_hello *hello, struct fail *fail);
/* Both return false only if writing is impossible or the metadata is wrong. A bad packet counts as refused,
 * one that is cut before an event that does not decode as undecoded; FAIL says why. Lost events are added to
 * `events_discarded` of all later packets, so every reader counts them. */
bool write_metadata(struct trace_writer *writer, const uint8_t *text, size_t size, struct fail *fail);
bool write_packet(struct trace_writer *writer, const struct source_item *item, struct fail *fail);
/* False: something was removed or changed. */
bool check_trace_writer(const struct trace_writer *writer, struct fail *fail);
/* Completes the trace: writes what was discarded before it (TRACE_BEFORE_NAME), and ends each stream with the
 * last counts from the guest. If packets before `cpu->head`, or discarded events, are missing in the trace,
 * it writes an empty packet that says so (TRACE_PACKET_CLOSING). IS_WHOLE: the counts are final; else packet
 * `cpu->head` was not sent either. */
bool write_closing(struct trace_writer *writer, const struct wire_status *status,
                   const struct wire_cpu_status *cpu, bool is_whole, struct fail *fail);
/* Appends a packet of rows (TRACE_PACKET_ROWS), behind the closing one, to the stream of a CPU that has one:
 * COUNT events of the time stream->end, of at most ROWS_BYTES_MAX(writer). */
#define ROWS_BYTES_MAX(writer) ((writer)->hello.buffer_bytes - sizeof(struct trace_packet) - 16)
bool write_rows_packet(struct trace_writer *writer, uint32_t cpu, const struct buffer *events, uint64_t count,
                       struct fail *fail);
/* Notes in that mark how the link is: TRACE_LINK_..., and when something came last. */
void note_link(const struct trace_writer *writer, int state, double heard);
/* Notes the last packet of each stream (TRACE_END_NAME), and removes the mark of an unfinished trace. */
bool finish_trace_writer(struct trace_writer *writer, struct fail *fail);
/* Events during the pull; or, before it, since boot. */
uint64_t count_discarded(const struct trace_writer *writer, bool is_before);
void close_trace_writer(struct trace_writer *writer);
