/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/read/read.h - stage "read": the files of a trace to packets.
 *
 * A stream is one file: the packets of one processor, back to back. Packets are read with pread into a
 * buffer of the caller, one at a time, so memory does not depend on the length of the trace and a file that
 * shrinks or grows meanwhile does no harm. No index is kept: a time is found by binary search over packet
 * headers in the file (stream_seek), falling back to hopping from header to header.
 *
 * What is wrong with a packet has a name (enum anomaly); `tarn check` lists them, the others skip the packet
 * and say so. Next stage: decode.h.
 */
#ifndef TARN_READ_H
#define TARN_READ_H

#include <tools/tarn/read/schema.h>

#define PACKET_BYTES_MAX (16u << 20) /* far more than a buffer can be */

struct stream {
    char *path;       /* as babeltrace2 names it: DIR/FILE */
    const char *name; /* FILE */
    int fd;
    uint64_t size;  /* bytes in the file when it was opened */
    unsigned rank;  /* place among the streams in order of their names; breaks ties of time */
    uint32_t cpu;   /* of the first packet; ~0 when there is none */
    uint64_t begin; /* ticks: begin of the first packet */
    uint64_t first_packet_bytes;
};

/* Something wrong with the directory, not with a packet. */
struct oddity;

struct trace {
    char *directory;
    struct schema schema;
    struct stream *streams;
    unsigned stream_count;
    uint64_t begin, end; /* ticks: of the first packet, of the last */
    uint64_t metadata_inode, metadata_bytes;
    struct oddity *oddities;
    unsigned oddity_count;
    unsigned file_count; /* stream files, with those that are left out */
};

enum anomaly {
    ANOMALY_NONE,
    /* of a packet; up to and with ANOMALY_OPEN it cannot be walked */
    ANOMALY_TRUNCATED,
    ANOMALY_MAGIC,
    ANOMALY_UUID,
    ANOMALY_STREAM_ID,
    ANOMALY_SIZE,
    ANOMALY_OPEN,
    ANOMALY_CPU,
    ANOMALY_COMMITTED,
    ANOMALY_PACKET_TIME,
    ANOMALY_PACKET_ORDER,
    ANOMALY_SEQUENCE,
    ANOMALY_DISCARDED,
    ANOMALY_CONTEXT,
    ANOMALY_END,
    ANOMALY_FILLER,
    ANOMALY_END_TIME,
    /* of an event */
    ANOMALY_EVENT_LENGTH,
    ANOMALY_EVENT_ID,
    ANOMALY_EVENT_LAYOUT,
    ANOMALY_EVENT_TIME,
    /* of the trace as a whole (judge.h) */
    ANOMALY_FILE,
    ANOMALY_EMPTY,
    ANOMALY_COPY,
    ANOMALY_MISSING,
    ANOMALY_CLOCK,
    /* losses: no damage */
    ANOMALY_LOST_PACKETS,
    ANOMALY_LOST_EVENTS,
    ANOMALY_CUT,
    ANOMALY_UNFINISHED,
    ANOMALY_COUNT
};

struct anomaly_kind {
    const char *name;
    const char *meaning;
    bool is_loss;
};
extern const struct anomaly_kind anomaly_kinds[ANOMALY_COUNT];

struct oddity {
    enum anomaly anomaly;
    char file[200]; /* its name; of ANOMALY_MISSING those that should be there */
    uint64_t count; /* of ANOMALY_COPY the processor, of ANOMALY_MISSING how many */
};

/* One packet in memory. */
struct packet {
    struct trace_packet header; /* in this machine's byte order */
    uint64_t offset;            /* in the file */
    const uint8_t *bytes;
    uint64_t packet_bytes, content_bytes;
};

/* Where packet bytes go; grows to the largest packet seen. */
struct packet_buffer {
    uint8_t *bytes;
    size_t size;
};

bool trace_open(struct trace *trace, const char *directory, struct fail *fail);
void trace_close(struct trace *trace);

/* In the directory while a pull writes it, which holds a lock on it; when the pull ends early it stays.
 * Hidden, so that CTF readers pass over it. */
#define TRACE_UNFINISHED_NAME  ".unfinished"
/* What decided the run (command/recipe.h), of a trace whose run repeats itself. Hidden for the same reason.
 */
#define TRACE_RECIPE_NAME      ".recipe.json"
#define TRACE_RECIPE_BYTES_MAX (64u << 10)
/* Whether the pull of the trace ended early: nobody knows what was lost after its last packets. */
bool trace_is_unfinished(const struct trace *trace);

/* Leaves out what is at a file's end and not yet a whole packet, of a trace that somebody is writing. */
void trace_cut_partial(struct trace *trace);
/* In how many files it, and no more, is there now. */
unsigned trace_count_partial(const struct trace *trace);

/* What became of the files since trace_open or the last call. GROWN: whole packets were appended, which are
 * taken in; FROM gets the time (ticks) that the first of them begins, 0 when it cannot be told. CHANGED:
 * files came, went, shrank or hold something else: open the trace again. Nobody may read the trace meanwhile.
 */
enum trace_news { TRACE_SAME, TRACE_GROWN, TRACE_CHANGED };
enum trace_news trace_refresh(struct trace *trace, uint64_t *from);

/* The header of the packet at OFFSET, checked against everything a header can tell. */
enum anomaly stream_header(const struct trace *trace, const struct stream *stream, uint64_t offset,
                           struct trace_packet *header);
/* The same with the bytes. On ANOMALY_NONE and from ANOMALY_CPU on, PACKET can be walked. */
enum anomaly stream_packet(const struct trace *trace, const struct stream *stream, uint64_t offset,
                           struct packet_buffer *buffer, struct packet *packet);
/* The next offset from FROM on where a packet seems to start, or the end of the file. */
uint64_t stream_resync(const struct trace *trace, const struct stream *stream, uint64_t from);
/* The offset of the last packet that begins before TIME (ticks), or of the first packet. */
uint64_t stream_seek(const struct trace *trace, const struct stream *stream, uint64_t time);

static inline bool anomaly_is_fatal(enum anomaly anomaly)
{
    return anomaly != ANOMALY_NONE && anomaly <= ANOMALY_OPEN;
}

#endif
