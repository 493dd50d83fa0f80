/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/format/segment.h - an ordered stream of bytes, each way, over a link that may drop, duplicate or
 * change bytes: what the frames of wire.h travel on when the link is a serial port.
 *
 * Bytes travel in segments with checksums and positions. The receiver finds the next good segment whatever
 * lies before it, takes what continues its stream, and acknowledges it; the sender goes back to the first
 * byte that is not acknowledged when it is told of a gap or when nothing comes back in time (go-back-N).
 * WIRE.md says it byte by byte.
 *
 * This file moves no bytes over the link and knows no clock: the owner feeds what came (segment_input),
 * fetches what is to be sent (segment_output) at the latest when segment_deadline says so, and gives the
 * time, in nanoseconds of a monotonic clock. A session begins with the host, whose number for it tells it
 * from those before. No locks: one thread at a time. Shared by servers/traced and the host tool, so it
 * includes nothing of ours.
 */
#ifndef TRACE_SEGMENT_H
#define TRACE_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEGMENT_MAGIC        0x54617253u /* "TarS" */
#define SEGMENT_HEADER_BYTES 40u
#define SEGMENT_PAYLOAD_MAX  4096u
#define SEGMENT_BYTES_MAX    (SEGMENT_HEADER_BYTES + SEGMENT_PAYLOAD_MAX)

enum segment_kind {
    SEGMENT_OPEN = 1,  /* host: begin this session; repeated until the guest says something in it */
    SEGMENT_DATA = 2,  /* bytes, an acknowledgement, or both */
    SEGMENT_CLOSE = 3, /* this session is over, or unknown here */
};
#define SEGMENT_GAP \
    1u /* flag of DATA: what came last does not continue the stream, send again from `acknowledged` */

/* Header: 40 bytes, big-endian. */
struct segment {
    uint32_t magic;
    uint8_t kind;
    uint8_t flags;
    uint16_t length;       /* bytes of payload */
    uint32_t session;      /* chosen by the host, not 0 */
    uint32_t window;       /* bytes behind `acknowledged` that the sender of this segment has room for */
    uint64_t position;     /* of the payload's first byte among all bytes of this session and direction */
    uint64_t acknowledged; /* bytes of the other direction that have come */
    uint32_t payload_hash; /* low half of XXH64 with seed 0 */
    uint32_t header_crc;   /* CRC-32C of the 36 bytes before */
};

enum segment_state {
    SEGMENT_CLOSED,  /* nothing goes out; what has come can still be read */
    SEGMENT_OPENING, /* the host waits for the guest's first word */
    SEGMENT_IS_OPEN,
};

#define SEGMENT_OPEN_EVERY_NS 100000000ull
#define SEGMENT_KEEPALIVE_NS  1000000000ull  /* who has said nothing for so long says that it is there */
#define SEGMENT_SILENCE_NS    15000000000ull /* who has heard nothing for so long gives the session up */
#define SEGMENT_RESEND_MIN_NS 250000000ull
#define SEGMENT_RESEND_MAX_NS 2000000000ull
#define SEGMENT_GO_BACK_NS    20000000ull /* a report of the same gap within this time is of the same loss */
#define SEGMENT_ENDED         16u /* sessions remembered, so that a late OPEN does not begin one again */

struct segment_buffer {
    uint8_t *bytes;
    size_t size;         /* a power of two */
    uint64_t start, end; /* positions in the stream: what lies between is in the buffer */
};

struct segment_stream {
    enum segment_state state;
    uint32_t session;
    uint32_t offered; /* guest: a host wants to begin this session; 0: none */
    uint32_t offered_window;
    uint32_t refused; /* a session to answer with CLOSE; 0: none */
    uint32_t ended[SEGMENT_ENDED];
    unsigned ended_count;

    struct segment_buffer out; /* start: acknowledged by the peer */
    uint64_t next, sent_end;   /* to be sent next; behind the last byte ever sent */
    uint64_t limit;            /* the peer has room up to here */
    uint64_t resend_at, resend_after, went_back_at, went_back_to;

    struct segment_buffer in; /* start: read by the owner; end: acknowledged to the peer */
    uint64_t advertised;      /* the limit that the peer was told last */
    uint64_t gap_at, gap_position;
    bool must_acknowledge, must_report_gap;

    uint64_t heard_at, spoke_at;
    uint64_t resent_bytes, bad_bytes; /* statistics: sent once more; skipped as no part of a good segment */
    size_t raw_size;
    uint8_t raw[4 * SEGMENT_BYTES_MAX]; /* came, but is no whole segment yet */
};

/* The buffers are the caller's, their sizes powers of two. */
void segment_init(struct segment_stream *stream, uint8_t *out, size_t out_size, uint8_t *in, size_t in_size);
void segment_open(struct segment_stream *stream, uint32_t session, uint64_t now); /* host */
void segment_accept(struct segment_stream *stream, uint64_t now);                 /* guest: what is offered */
/* Ends the session and forgets what was not sent; the next output tells the peer, if it can. */
void segment_close(struct segment_stream *stream);
/* The link was cut and may come back: what came last will not be continued. Ends the session in silence. */
void segment_cut(struct segment_stream *stream);

void segment_input(struct segment_stream *stream, const void *bytes, size_t size, uint64_t now);
/* What is to be sent now, up to `room` bytes, of which it uses at least SEGMENT_BYTES_MAX; 0: nothing. */
size_t segment_output(struct segment_stream *stream, uint8_t *to, size_t room, uint64_t now);
/* When segment_output will have something though nothing came and nothing was written; ~0: never. */
uint64_t segment_deadline(const struct segment_stream *stream);

size_t segment_write(struct segment_stream *stream, const void *bytes, size_t size); /* how much it took */
size_t segment_read(struct segment_stream *stream, void *bytes, size_t size);
size_t segment_readable(const struct segment_stream *stream);
size_t segment_unsent(const struct segment_stream *stream); /* written and not yet acknowledged */

#endif
