/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/format/segment.h - an ordered stream of bytes in each direction over a link that may drop, duplicate
 * or change bytes: carries the frames of wire.h over a serial port. WIRE.md specifies the protocol.
 *
 * This code does no I/O and has no clock. The owner passes received bytes to segment_input, fetches bytes to
 * send from segment_output, at the latest at segment_deadline, and passes the time in nanoseconds of a
 * monotonic clock. No locks: one thread at a time. Shared by servers/traced and the host tool, so this file
 * includes nothing else of Tarn.
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
    SEGMENT_OPEN = 1, /* host: begin this session; repeated until the guest replies in it */
    SEGMENT_DATA = 2,
    SEGMENT_CLOSE = 3, /* this session is over, or unknown here */
};
/* flag of DATA: the last segment does not continue the stream, send again from `acknowledged` */
#define SEGMENT_GAP 1u

/* Header: 40 bytes, big-endian. */
struct segment {
    uint32_t magic;
    uint8_t kind;
    uint8_t flags;
    uint16_t length;
    uint32_t session;      /* chosen by the host, not 0 */
    uint32_t window;       /* bytes after `acknowledged` that the sender of this segment can accept */
    uint64_t position;     /* of the payload's first byte in the stream of this session and direction */
    uint64_t acknowledged; /* bytes of the other direction that have arrived */
    uint32_t payload_hash; /* low half of XXH64 with seed 0 */
    uint32_t header_crc;   /* CRC-32C of the 36 bytes before */
};

enum segment_state {
    SEGMENT_CLOSED, /* nothing is sent; received bytes can still be read */
    SEGMENT_OPENING,
    SEGMENT_IS_OPEN,
};

#define SEGMENT_OPEN_EVERY_NS 100000000ull
/* a side that has sent nothing for this long sends an empty DATA */
#define SEGMENT_KEEPALIVE_NS  1000000000ull
/* a side that has received nothing for this long ends the session */
#define SEGMENT_SILENCE_NS    15000000000ull
#define SEGMENT_RESEND_MIN_NS 250000000ull
#define SEGMENT_RESEND_MAX_NS 2000000000ull
/* reports of the same gap within this time are about the same loss */
#define SEGMENT_GO_BACK_NS    20000000ull
/* ended sessions remembered, so that a late OPEN does not begin one again */
#define SEGMENT_ENDED         16u

struct segment_buffer {
    uint8_t *bytes;
    size_t size;         /* a power of two */
    uint64_t start, end; /* positions in the stream: the bytes between are in the buffer */
};

struct segment_stream {
    enum segment_state state;
    uint32_t session;
    uint32_t offered; /* guest: session that a host wants to begin; 0: none */
    uint32_t offered_window;
    uint32_t refused; /* a session to answer with CLOSE; 0: none */
    uint32_t ended[SEGMENT_ENDED];
    unsigned ended_count;

    struct segment_buffer out; /* start: acknowledged by the peer */
    uint64_t next, sent_end;   /* position to send next; end of all bytes ever sent */
    uint64_t limit;            /* the peer accepts bytes up to here */
    uint64_t resend_at, resend_after, went_back_at, went_back_to;

    struct segment_buffer in; /* start: read by the owner; end: acknowledged to the peer */
    uint64_t advertised;      /* the limit last sent */
    uint64_t gap_at, gap_position;
    bool must_acknowledge, must_report_gap;

    uint64_t heard_at, spoke_at;
    /* statistics: bytes sent again; bytes skipped as no part of a good segment */
    uint64_t resent_bytes, bad_bytes;
    size_t raw_size;
    uint8_t raw[4 * SEGMENT_BYTES_MAX]; /* received, not yet a whole segment */
};

/* The caller owns the buffers; their sizes are powers of two. */
void segment_init(struct segment_stream *stream, uint8_t *out, size_t out_size, uint8_t *in, size_t in_size);
void segment_open(struct segment_stream *stream, uint32_t session, uint64_t now); /* host */
/* guest: accepts the offered session */
void segment_accept(struct segment_stream *stream, uint64_t now);
/* Ends the session and discards unsent bytes; the next output tells the peer, if it can. */
void segment_close(struct segment_stream *stream);
/* The link was cut and may come back: a partial segment will not be continued. Ends the session without
 * telling the peer. */
void segment_cut(struct segment_stream *stream);

void segment_input(struct segment_stream *stream, const void *bytes, size_t size, uint64_t now);
/* Writes what is to be sent now and returns its size; 0: nothing. `room`, the space in `to`, should be at
 * least SEGMENT_BYTES_MAX. */
size_t segment_output(struct segment_stream *stream, uint8_t *to, size_t room, uint64_t now);
/* When segment_output has something to send even if nothing is received or written; ~0: never. */
uint64_t segment_deadline(const struct segment_stream *stream);

/* returns the bytes accepted */
size_t segment_write(struct segment_stream *stream, const void *bytes, size_t size);
size_t segment_read(struct segment_stream *stream, void *bytes, size_t size);
size_t segment_readable(const struct segment_stream *stream);
size_t segment_unsent(const struct segment_stream *stream); /* written and not yet acknowledged */

#endif
