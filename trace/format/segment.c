/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/format/segment.c - an ordered stream of bytes over an unreliable link (segment.h).
 *
 * Positions have 64 bits and never wrap. Everything from the peer is checked before use: a segment of another
 * session, an acknowledgement of bytes never sent or bytes outside the receive window change nothing.
 */
#include <string.h>
#include <trace/format/segment.h>
#include <trace/format/wire.h>

/* ---- buffers -------------------------------------------------------------------------------------- */

static size_t used(const struct segment_buffer *buffer)
{
    return (size_t)(buffer->end - buffer->start);
}

static size_t append(struct segment_buffer *buffer, const uint8_t *bytes, size_t size)
{
    size_t room = buffer->size - used(buffer), at = buffer->end & (buffer->size - 1);

    if (size > room)
        size = room;
    size_t first = size < buffer->size - at ? size : buffer->size - at;
    memcpy(buffer->bytes + at, bytes, first);
    memcpy(buffer->bytes, bytes + first, size - first);
    buffer->end += size;
    return size;
}

static void copy_out(const struct segment_buffer *buffer, uint64_t position, uint8_t *to, size_t size)
{
    size_t at = position & (buffer->size - 1);
    size_t first = size < buffer->size - at ? size : buffer->size - at;

    memcpy(to, buffer->bytes + at, first);
    memcpy(to + first, buffer->bytes, size - first);
}

/* ---- sessions ------------------------------------------------------------------------------------- */

void segment_init(struct segment_stream *stream, uint8_t *out, size_t out_size, uint8_t *in, size_t in_size)
{
    memset(stream, 0, sizeof(*stream));
    stream->out = (struct segment_buffer){.bytes = out, .size = out_size};
    stream->in = (struct segment_buffer){.bytes = in, .size = in_size};
}

static void begin(struct segment_stream *stream, enum segment_state state, uint32_t session, uint64_t now)
{
    stream->state = state;
    stream->session = session;
    stream->out.start = stream->out.end = stream->in.start = stream->in.end = 0;
    stream->next = stream->sent_end = stream->limit = 0;
    stream->advertised = state == SEGMENT_OPENING ? stream->in.size : 0;
    stream->resend_after = SEGMENT_RESEND_MIN_NS;
    stream->resend_at = stream->heard_at = stream->spoke_at = now;
    stream->went_back_at = stream->went_back_to = 0;
    stream->gap_at = stream->gap_position = ~0ull;
    stream->must_acknowledge = true;
    stream->must_report_gap = false;
}

void segment_open(struct segment_stream *stream, uint32_t session, uint64_t now)
{
    begin(stream, SEGMENT_OPENING, session, now);
}

static void end_session(struct segment_stream *stream)
{
    if (stream->state == SEGMENT_CLOSED)
        return;
    stream->state = SEGMENT_CLOSED;
    stream->ended[stream->ended_count++ % SEGMENT_ENDED] = stream->session;
}

void segment_accept(struct segment_stream *stream, uint64_t now)
{
    end_session(stream);
    begin(stream, SEGMENT_IS_OPEN, stream->offered, now);
    stream->limit = stream->offered_window;
    stream->offered = 0;
}

void segment_close(struct segment_stream *stream)
{
    if (stream->state != SEGMENT_CLOSED)
        stream->refused = stream->session;
    end_session(stream);
}

void segment_cut(struct segment_stream *stream)
{
    end_session(stream);
    stream->raw_size = 0;
    stream->offered = stream->refused = 0;
}

static bool has_ended(const struct segment_stream *stream, uint32_t session)
{
    for (unsigned i = 0; i < SEGMENT_ENDED && i < stream->ended_count; i++)
        if (stream->ended[i] == session)
            return true;
    return false;
}

/* ---- input ---------------------------------------------------------------------------------------- */

static void take_acknowledgement(struct segment_stream *stream, const struct segment *segment, uint64_t now)
{
    if (segment->acknowledged < stream->out.start || segment->acknowledged > stream->sent_end)
        return;
    if (segment->acknowledged > stream->out.start) {
        stream->out.start = segment->acknowledged;
        if (stream->next < stream->out.start)
            stream->next = stream->out.start;
        stream->resend_after = SEGMENT_RESEND_MIN_NS;
        stream->resend_at = now + stream->resend_after;
    }
    if (segment->acknowledged + segment->window > stream->limit)
        stream->limit = segment->acknowledged + segment->window;
    bool same = stream->went_back_to == stream->out.start && now - stream->went_back_at < SEGMENT_GO_BACK_NS;
    if ((segment->flags & SEGMENT_GAP) && stream->next > stream->out.start && !same) {
        stream->next = stream->went_back_to = stream->out.start;
        stream->went_back_at = now;
        stream->resend_at = now + stream->resend_after;
    }
}

/* Reports a gap once each time that the sender passes it: its positions then restart. */
static void note_gap(struct segment_stream *stream, uint64_t position)
{
    if (stream->gap_at != stream->in.end || position <= stream->gap_position)
        stream->must_report_gap = true;
    stream->gap_at = stream->in.end;
    stream->gap_position = position;
}

static void take_payload(struct segment_stream *stream, const struct segment *segment, const uint8_t *payload)
{
    if (segment->length == 0)
        return;
    stream->must_acknowledge = true;
    if (segment->position > stream->in.end) {
        note_gap(stream, segment->position);
        return;
    }
    uint64_t known = stream->in.end - segment->position;
    if (known < segment->length)
        append(&stream->in, payload + known, segment->length - (size_t)known);
}

static void take_segment(struct segment_stream *stream, const struct segment *segment, const uint8_t *payload,
                         uint64_t now)
{
    bool ours = stream->state != SEGMENT_CLOSED && segment->session == stream->session;

    switch (segment->kind) {
    case SEGMENT_OPEN:
        if (ours)
            stream->must_acknowledge = true;
        else if (!has_ended(stream, segment->session))
            stream->offered = segment->session, stream->offered_window = segment->window;
        break;
    case SEGMENT_DATA:
        if (!ours) {
            stream->refused = segment->session;
            return;
        }
        stream->state = SEGMENT_IS_OPEN;
        take_acknowledgement(stream, segment, now);
        take_payload(stream, segment, payload);
        break;
    case SEGMENT_CLOSE:
        if (ours)
            end_session(stream);
        break;
    default:
        return;
    }
    if (ours)
        stream->heard_at = now;
}

static bool get_header(const uint8_t *from, struct segment *segment)
{
    *segment = (struct segment){
        .magic = wire_get32(from),
        .kind = from[4],
        .flags = from[5],
        .length = (uint16_t)(from[6] << 8 | from[7]),
        .session = wire_get32(from + 8),
        .window = wire_get32(from + 12),
        .position = wire_get64(from + 16),
        .acknowledged = wire_get64(from + 24),
        .payload_hash = wire_get32(from + 32),
        .header_crc = wire_get32(from + 36),
    };
    return segment->magic == SEGMENT_MAGIC && segment->header_crc == wire_crc(from, 36) &&
           segment->length <= SEGMENT_PAYLOAD_MAX && segment->session != 0;
}

/* The next place after the first byte where a segment may begin. */
static size_t skip(const uint8_t *bytes, size_t size)
{
    const uint8_t *next = memchr(bytes + 1, SEGMENT_MAGIC >> 24, size - 1);
    return next ? (size_t)(next - bytes) : size;
}

/* Processes all whole segments. Skips anything else byte by byte, also a presumed payload: where bytes were
 * lost, the next segment lies in it. */
static void parse(struct segment_stream *stream, uint64_t now)
{
    size_t at = 0;

    while (stream->raw_size - at >= SEGMENT_HEADER_BYTES) {
        const uint8_t *from = stream->raw + at, *payload = from + SEGMENT_HEADER_BYTES;
        size_t there = stream->raw_size - at;
        struct segment segment;
        bool good = get_header(from, &segment);
        if (good && there < SEGMENT_HEADER_BYTES + segment.length)
            break;
        if (good && wire_hash(payload, segment.length) == segment.payload_hash) {
            take_segment(stream, &segment, payload, now);
            at += SEGMENT_HEADER_BYTES + segment.length;
        } else {
            size_t bad = skip(from, there);
            stream->bad_bytes += bad;
            at += bad;
        }
    }
    stream->raw_size -= at;
    memmove(stream->raw, stream->raw + at, stream->raw_size);
}

void segment_input(struct segment_stream *stream, const void *bytes, size_t size, uint64_t now)
{
    const uint8_t *from = bytes;

    while (size > 0) {
        size_t part = sizeof(stream->raw) - stream->raw_size; /* never 0: parse leaves less than a segment */
        if (part > size)
            part = size;
        memcpy(stream->raw + stream->raw_size, from, part);
        stream->raw_size += part;
        from += part, size -= part;
        parse(stream, now);
    }
}

/* ---- output --------------------------------------------------------------------------------------- */

static size_t put_segment(uint8_t *to, const struct segment *segment)
{
    wire_put32(to, SEGMENT_MAGIC);
    to[4] = segment->kind;
    to[5] = segment->flags;
    to[6] = (uint8_t)(segment->length >> 8);
    to[7] = (uint8_t)segment->length;
    wire_put32(to + 8, segment->session);
    wire_put32(to + 12, segment->window);
    wire_put64(to + 16, segment->position);
    wire_put64(to + 24, segment->acknowledged);
    wire_put32(to + 32, wire_hash(to + SEGMENT_HEADER_BYTES, segment->length));
    wire_put32(to + 36, wire_crc(to, 36));
    return SEGMENT_HEADER_BYTES + segment->length;
}

static size_t put_data(struct segment_stream *stream, uint8_t *to, uint64_t now)
{
    uint64_t end = stream->out.end < stream->limit ? stream->out.end : stream->limit;
    uint64_t length = end > stream->next ? end - stream->next : 0;
    struct segment segment = {
        .kind = SEGMENT_DATA,
        .flags = stream->must_report_gap ? SEGMENT_GAP : 0,
        .length = (uint16_t)(length < SEGMENT_PAYLOAD_MAX ? length : SEGMENT_PAYLOAD_MAX),
        .session = stream->session,
        .window = (uint32_t)(stream->in.size - used(&stream->in)),
        .position = stream->next,
        .acknowledged = stream->in.end,
    };

    copy_out(&stream->out, stream->next, to + SEGMENT_HEADER_BYTES, segment.length);
    if (segment.length > 0 && stream->next == stream->out.start)
        stream->resend_at = now + stream->resend_after;
    if (stream->next < stream->sent_end)
        stream->resent_bytes += segment.length;
    stream->next += segment.length;
    if (stream->sent_end < stream->next)
        stream->sent_end = stream->next;
    stream->advertised = segment.acknowledged + segment.window;
    stream->must_acknowledge = stream->must_report_gap = false;
    stream->spoke_at = now;
    return put_segment(to, &segment);
}

static bool has_data(const struct segment_stream *stream)
{
    return stream->next < stream->out.end && stream->next < stream->limit;
}

/* If nothing was acknowledged in time: sends everything again, and doubles the time. */
static void look_at_clock(struct segment_stream *stream, uint64_t now)
{
    if (now - stream->heard_at >= SEGMENT_SILENCE_NS) {
        end_session(stream);
    } else if (stream->state == SEGMENT_IS_OPEN && stream->next > stream->out.start &&
               now >= stream->resend_at) {
        stream->next = stream->went_back_to = stream->out.start;
        stream->went_back_at = now;
        stream->resend_after *= stream->resend_after < SEGMENT_RESEND_MAX_NS ? 2 : 1;
        stream->resend_at = now + stream->resend_after;
    }
}

size_t segment_output(struct segment_stream *stream, uint8_t *to, size_t room, uint64_t now)
{
    size_t size = 0;

    if (stream->state != SEGMENT_CLOSED)
        look_at_clock(stream, now);
    if (stream->refused && room >= SEGMENT_BYTES_MAX) {
        size += put_segment(to, &(struct segment){.kind = SEGMENT_CLOSE, .session = stream->refused});
        stream->refused = 0;
    }
    if (stream->state == SEGMENT_OPENING && now >= stream->resend_at && room - size >= SEGMENT_BYTES_MAX) {
        size += put_segment(to + size, &(struct segment){.kind = SEGMENT_OPEN,
                                                         .session = stream->session,
                                                         .window = (uint32_t)stream->in.size});
        stream->resend_at = now + SEGMENT_OPEN_EVERY_NS;
    }
    while (stream->state == SEGMENT_IS_OPEN && room - size >= SEGMENT_BYTES_MAX &&
           (has_data(stream) || stream->must_acknowledge || stream->must_report_gap ||
            now - stream->spoke_at >= SEGMENT_KEEPALIVE_NS))
        size += put_data(stream, to + size, now);
    return size;
}

uint64_t segment_deadline(const struct segment_stream *stream)
{
    if (stream->state == SEGMENT_CLOSED)
        return ~0ull;
    uint64_t deadline = stream->heard_at + SEGMENT_SILENCE_NS,
             keepalive = stream->spoke_at + SEGMENT_KEEPALIVE_NS;
    if (stream->state == SEGMENT_IS_OPEN && keepalive < deadline)
        deadline = keepalive;
    if ((stream->state == SEGMENT_OPENING || stream->next > stream->out.start) &&
        stream->resend_at < deadline)
        deadline = stream->resend_at;
    return deadline;
}

/* ---- the owner's interface ------------------------------------------------------------------------ */

size_t segment_write(struct segment_stream *stream, const void *bytes, size_t size)
{
    return append(&stream->out, bytes, size);
}

/* Tells the peer about free space at once if the peer had little left; else with the next segment. */
size_t segment_read(struct segment_stream *stream, void *bytes, size_t size)
{
    struct segment_buffer *in = &stream->in;

    if (size > used(in))
        size = used(in);
    copy_out(in, in->start, bytes, size);
    in->start += size;
    uint64_t told = stream->advertised - in->end, room = in->size - used(in);
    if (told < in->size / 4 && room >= in->size / 2)
        stream->must_acknowledge = true;
    return size;
}

size_t segment_readable(const struct segment_stream *stream)
{
    return used(&stream->in);
}

size_t segment_unsent(const struct segment_stream *stream)
{
    return used(&stream->out);
}
