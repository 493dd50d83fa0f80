/* read.c - files to packets; see read.h. */
#include <string.h>
#include <tools/tarn/out.h>
#include <tools/tarn/read/read.h>

const struct anomaly_kind anomaly_kinds[ANOMALY_COUNT] = {
#define ANOMALY(id, name, meaning) {name, meaning, ANOMALY_##id >= ANOMALY_LOST_PACKETS},
#include <tools/tarn/read/anomalies.def>
#undef ANOMALY
};

/* LEFT: bytes in the file from the header on. */
static enum anomaly judge_header(const struct trace *trace, const struct stream *stream,
                                 const struct trace_packet *header, uint64_t left)
{
    if (header->magic != TRACE_CTF_MAGIC)
        return ANOMALY_MAGIC;
    if (memcmp(header->uuid, trace->schema.uuid, sizeof(header->uuid)) != 0)
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
    if (header->cpu_id != stream->cpu)
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
        !file_read_at(stream->fd, header, sizeof(*header), offset))
        return ANOMALY_TRUNCATED;
    if (trace->schema.swap)
        trace_swap(header, TRACE_PACKET_LAYOUT);
    return judge_header(trace, stream, header, stream->size - offset);
}

/* Reads a packet of the expected size together with its header. */
static bool read_expected(const struct trace *trace, const struct stream *stream, uint64_t offset,
                          struct packet_buffer *buffer, struct trace_packet *header)
{
    if (buffer->expected == 0 || offset > stream->size || stream->size - offset < buffer->expected ||
        !file_read_at(stream->fd, buffer->bytes, buffer->expected, offset))
        return false;
    memcpy(header, buffer->bytes, sizeof(*header));
    if (trace->schema.swap)
        trace_swap(header, TRACE_PACKET_LAYOUT);
    return true;
}

/* After damage, it checks the header first: thousands of places that only look like packets may be tried. */
enum anomaly stream_packet(const struct trace *trace, const struct stream *stream, uint64_t offset,
                           struct packet_buffer *buffer, struct packet *packet)
{
    bool is_read = read_expected(trace, stream, offset, buffer, &packet->header);
    enum anomaly anomaly = is_read ? judge_header(trace, stream, &packet->header, stream->size - offset)
                                   : stream_header(trace, stream, offset, &packet->header);
    packet->offset = offset;
    is_read &= packet->header.packet_size / 8 == buffer->expected;
    buffer->expected = 0;
    if (anomaly_is_fatal(anomaly))
        return anomaly;
    packet->packet_bytes = packet->header.packet_size / 8;
    packet->content_bytes = packet->header.content_size / 8;
    if (buffer->size < packet->packet_bytes) {
        buffer->bytes = alloc_more(buffer->bytes, packet->packet_bytes, 1);
        buffer->size = packet->packet_bytes;
    }
    packet->bytes = buffer->bytes;
    if (!is_read && !file_read_at(stream->fd, buffer->bytes, packet->packet_bytes, offset))
        return ANOMALY_TRUNCATED;
    buffer->expected = packet->packet_bytes;
    return anomaly;
}

uint64_t stream_resync(const struct trace *trace, const struct stream *stream, uint64_t from)
{
    uint8_t chunk[65536];
    uint32_t magic = trace->schema.swap ? __builtin_bswap32(TRACE_CTF_MAGIC) : TRACE_CTF_MAGIC;
    for (uint64_t at = from; at < stream->size && stream->size - at >= sizeof(struct trace_packet);) {
        uint64_t size = at == from ? 4096 : sizeof(chunk), i; /* the next packet is usually near */
        size = stream->size - at < size ? stream->size - at : size;
        if (!file_read_at(stream->fd, chunk, size, at))
            break;
        for (i = 0; i + 24 <= size; i += 8)
            if (memcmp(chunk + i, &magic, sizeof(magic)) == 0 &&
                memcmp(chunk + i + 8, trace->schema.uuid, 16) == 0)
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
    struct trace_packet header;
    if (bytes == 0)
        return 0;
    high = stream->size / bytes;
    if (stream->size % bytes != 0 && !anomaly_is_fatal(stream_header(trace, stream, high * bytes, &header)))
        return seek_by_hops(trace, stream, time); /* the last packet is smaller */
    /* Invariant: packet `low` begins before `time` or is the first; packet `high` does not. */
    while (high - low > 1) {
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
