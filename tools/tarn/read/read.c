/* SPDX-License-Identifier: BSD-2-Clause */
/* read.c - files to packets; see read.h. */
#include <errno.h>
#include <string.h>
#include <tools/tarn/read/read.h>
#include <unistd.h>

const struct anomaly_kind anomaly_kinds[ANOMALY_COUNT] = {
    [ANOMALY_NONE] = {"none", "no anomaly", false},
    [ANOMALY_TRUNCATED] = {"truncated", "the file ends inside a packet", false},
    [ANOMALY_MAGIC] = {"magic", "no packet starts here", false},
    [ANOMALY_UUID] = {"uuid", "the packet's schema is not that of the metadata", false},
    [ANOMALY_STREAM_ID] = {"stream-id", "the packet's stream class is unknown", false},
    [ANOMALY_SIZE] = {"size", "packet or content size is impossible", false},
    [ANOMALY_OPEN] = {"open", "the packet was never closed", false},
    [ANOMALY_CPU] = {"cpu", "the packet belongs to another CPU than the file's first packet", false},
    [ANOMALY_COMMITTED] = {"committed", "words were reserved but not committed: the packet has a hole",
                           false},
    [ANOMALY_PACKET_TIME] = {"packet-time",
                             "the packet ends before it begins, or begins a century after the clock did",
                             false},
    [ANOMALY_PACKET_ORDER] = {"packet-order", "the packet begins before the one before it ended", false},
    [ANOMALY_SEQUENCE] = {"sequence", "the sequence number does not increase", false},
    [ANOMALY_DISCARDED] = {"discarded", "the count of discarded events decreased", false},
    [ANOMALY_EVENT_COUNT] = {"event-count",
                             "the count of earlier events is not what the packet before it leads to", false},
    [ANOMALY_CONTEXT] = {"context", "the packet does not start with a context event", false},
    [ANOMALY_WRONG_THREAD] =
        {"wrong-thread", "the packet's context names another thread than the switches before and after it",
         false},
    [ANOMALY_END] = {"end", "the packet's content does not end with an end event", false},
    [ANOMALY_FILLER] = {"filler", "the content is not followed by a filler", false},
    [ANOMALY_END_TIME] = {"end-time", "the last event's time is not the packet's end time", false},
    [ANOMALY_EVENT_LENGTH] = {"event-length", "an event extends beyond the content or has no length", false},
    [ANOMALY_EVENT_ID] = {"event-id", "the metadata does not declare the event", false},
    [ANOMALY_EVENT_LAYOUT] = {"event-layout", "an event's length does not fit its fields", false},
    [ANOMALY_EVENT_TIME] = {"event-time", "an event is later than its packet's end, or time went back",
                            false},
    [ANOMALY_FILE] = {"file", "not a regular file, or a dangling link: not read", false},
    [ANOMALY_EMPTY] = {"empty", "the stream file is empty", false},
    [ANOMALY_TAIL] = {"tail", "the pull wrote more packets than the file has", false},
    [ANOMALY_RECORD] = {"record", "the pull's note about the trace is damaged: ignored", false},
    [ANOMALY_METADATA] = {"metadata", "it was changed after the pull: events may be read wrongly", false},
    [ANOMALY_COPY] = {"copy", "another file has packets of the same CPU: this file is ignored", false},
    [ANOMALY_MISSING] = {"missing", "a CPU of the guest has no packets in the trace", false},
    [ANOMALY_CPU_COUNT] = {"cpu-count",
                           "cpu_count is missing, or not more than the number of a CPU that has packets",
                           false},
    [ANOMALY_CLOCK] = {"clock", "an event on one CPU precedes its cause on another", false},
    [ANOMALY_LOST_PACKETS] = {"lost-packets", "sequence numbers are missing", true},
    [ANOMALY_LOST_EVENTS] = {"lost-events", "events were discarded for lack of space", true},
    [ANOMALY_CUT] = {"cut", "a reader cut the content at a hole or an invalid event", true},
    [ANOMALY_UNFINISHED] = {"unfinished", "the pull ended early: losses after the last packets are unknown",
                            true},
};

static void swap_header(struct trace_packet *header)
{
    uint64_t *words[] = {&header->timestamp_begin, &header->timestamp_end,    &header->content_size,
                         &header->packet_size,     &header->events_discarded, &header->packet_seq_num,
                         &header->committed,       &header->events_before};

    header->magic = __builtin_bswap32(header->magic);
    header->stream_id = __builtin_bswap32(header->stream_id);
    header->cpu_id = __builtin_bswap32(header->cpu_id);
    header->flags = __builtin_bswap32(header->flags);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        *words[i] = __builtin_bswap64(*words[i]);
}

static bool read_at(const struct stream *stream, uint64_t offset, void *bytes, uint64_t size)
{
    for (uint64_t done = 0; done < size;) {
        ssize_t got = pread(stream->fd, (char *)bytes + done, size - done, (off_t)(offset + done));

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (uint64_t)got;
    }
    return true;
}

/* LEFT: bytes in the file from the header on. */
static enum anomaly judge_header(const struct trace *trace, const struct stream *stream,
                                 const struct trace_packet *header, uint64_t left)
{
    if (header->magic != TRACE_CTF_MAGIC)
        return ANOMALY_MAGIC;
    if (memcmp(header->uuid, trace->schema.tsdl.uuid, sizeof(header->uuid)) != 0)
        return ANOMALY_UUID;
    if (header->stream_id != TRACE_STREAM_ID)
        return ANOMALY_STREAM_ID;
    if (header->packet_size % 64 != 0 || header->packet_size < sizeof(*header) * 8 ||
        header->packet_size > PACKET_BYTES_MAX * 8ull)
        return ANOMALY_SIZE;
    if (header->content_size == 0)
        return ANOMALY_OPEN;
    if (header->content_size % 64 != 0 || header->content_size < sizeof(*header) * 8 ||
        header->content_size > header->packet_size)
        return ANOMALY_SIZE;
    if (header->packet_size / 8 > left)
        return ANOMALY_TRUNCATED;
    if (header->timestamp_end < header->timestamp_begin || header->timestamp_begin > trace->schema.century)
        return ANOMALY_PACKET_TIME;
    if (stream->cpu != ~0u && header->cpu_id != stream->cpu)
        return ANOMALY_CPU;
    if (!(header->flags & TRACE_PACKET_CUT) && header->committed != header->packet_size / 64)
        return ANOMALY_COMMITTED;
    if (header->content_size == sizeof(*header) * 8 && !(header->flags & TRACE_PACKET_CLOSING))
        return ANOMALY_CONTEXT;
    return ANOMALY_NONE;
}

enum anomaly stream_header(const struct trace *trace, const struct stream *stream, uint64_t offset,
                           struct trace_packet *header)
{
    memset(header, 0, sizeof(*header));
    if (offset > stream->size || stream->size - offset < sizeof(*header) ||
        !read_at(stream, offset, header, sizeof(*header)))
        return ANOMALY_TRUNCATED;
    if (trace->schema.swap)
        swap_header(header);
    return judge_header(trace, stream, header, stream->size - offset);
}

/* Checks the header first: after damage, thousands of places that only look like packets may be tried. */
enum anomaly stream_packet(const struct trace *trace, const struct stream *stream, uint64_t offset,
                           struct packet_buffer *buffer, struct packet *packet)
{
    enum anomaly anomaly = stream_header(trace, stream, offset, &packet->header);

    packet->offset = offset;
    if (anomaly_is_fatal(anomaly))
        return anomaly;
    packet->packet_bytes = packet->header.packet_size / 8;
    packet->content_bytes = packet->header.content_size / 8;
    if (buffer->size < packet->packet_bytes) {
        buffer->bytes = alloc_more(buffer->bytes, packet->packet_bytes, 1);
        buffer->size = packet->packet_bytes;
    }
    packet->bytes = buffer->bytes;
    return read_at(stream, offset, buffer->bytes, packet->packet_bytes) ? anomaly : ANOMALY_TRUNCATED;
}

uint64_t stream_resync(const struct trace *trace, const struct stream *stream, uint64_t from)
{
    uint8_t chunk[65536];
    uint32_t magic = trace->schema.swap ? __builtin_bswap32(TRACE_CTF_MAGIC) : TRACE_CTF_MAGIC;

    for (uint64_t at = from; at < stream->size && stream->size - at >= sizeof(struct trace_packet);) {
        uint64_t size = at == from ? 4096 : sizeof(chunk), i; /* the next packet is usually near */

        size = stream->size - at < size ? stream->size - at : size;
        if (!read_at(stream, at, chunk, size))
            break;
        for (i = 0; i + 24 <= size; i += 8)
            if (memcmp(chunk + i, &magic, sizeof(magic)) == 0 &&
                memcmp(chunk + i + 8, trace->schema.tsdl.uuid, 16) == 0)
                return at + i;
        at += i;
    }
    return stream->size;
}

/* Searches from header to header, for files with damage or with packets of different sizes. */
static uint64_t seek_by_hops(const struct trace *trace, const struct stream *stream, uint64_t time)
{
    uint64_t found = 0, offset = 0;

    while (offset < stream->size) {
        struct trace_packet header;
        enum anomaly anomaly = stream_header(trace, stream, offset, &header);

        if (anomaly_is_fatal(anomaly)) {
            offset = stream_resync(trace, stream, offset + 8);
            continue;
        }
        if (header.timestamp_begin >= time)
            break;
        found = offset;
        offset += header.packet_size / 8;
    }
    return found;
}

uint64_t stream_seek(const struct trace *trace, const struct stream *stream, uint64_t time)
{
    uint64_t bytes = stream->first_packet_bytes, low = 0, high;

    if (bytes == 0)
        return 0;
    high = stream->size / bytes;
    /* Invariant: packet `low` begins before `time` or is the first; packet `high` does not. */
    while (high - low > 1) {
        struct trace_packet header;
        uint64_t middle = low + (high - low) / 2;

        if (anomaly_is_fatal(stream_header(trace, stream, middle * bytes, &header)) ||
            header.packet_size / 8 != bytes)
            return seek_by_hops(trace, stream, time);
        if (header.timestamp_begin < time)
            low = middle;
        else
            high = middle;
    }
    return low * bytes;
}
