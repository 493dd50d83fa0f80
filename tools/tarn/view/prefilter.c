/*
 * prefilter.c - finds the strides that may contain a match, without decoding events; see match.h.
 *
 * The index has the event types and running threads of a stride. If types alone do not exclude a text or a
 * value, its bytes are searched in the packets, which is many times faster than a walk: strings and the
 * names of running threads are stored literally (a context event has the name at the start of each packet),
 * numbers in the trace's byte order. There are false positives, but no false negatives.
 */
#include <endian.h>
#include <tools/tarn/read/filter.h>
#include <tools/tarn/view/match.h>

/* ---- index ---- */

/* Adds up a stride. False: a part of it cannot be read, and may contain anything. */
static bool sum_stride(struct match *match, size_t stride)
{
    const struct index *index = &match->view->index;
    size_t first = stride * INDEX_STRIDE, left = index_block_count(index) - first;
    unsigned level = left >= INDEX_STRIDE; /* at the end, the node of level 1 may not be complete */
    size_t blocks = index_node_blocks(level), count = level > 0 ? INDEX_STRIDE : left;
    return index_sum_nodes(index, level, first / blocks, count / blocks, &match->sum);
}

/* Whether a wanted thread ran or changed its state. */
static bool has_thread(const struct match *match)
{
    const struct tally *sum = &match->sum;
    uint32_t count = index_thread_count(&match->view->index);
    bool has = match->tids == NULL;
    for (uint32_t i = 0; i < sum->touched_count && !has; i++)
        has = sum->touched[i] >= count ||
              list_has(match->tids, index_thread(&match->view->index, sum->touched[i])->tid);
    return has;
}

/* ---- packets ---- */

/* Whether the packet begins with an event that names the running thread, as all packets of Tarn do. */
static bool tells_who_runs(const struct schema *schema, const struct packet *packet)
{
    struct event event;
    return packet->content_bytes > sizeof(struct trace_packet) &&
           event_decode(schema, packet->bytes + sizeof(struct trace_packet),
                        packet->content_bytes - sizeof(struct trace_packet), &event) == ANOMALY_NONE &&
           event.type->role == EVENT_CONTEXT;
}

/* Whether the packet contains the text, or the number without leading zeros, because a field may be narrow.
 */
static bool has_bytes(const struct match *match, const struct packet *packet)
{
    bool big_endian = match->view->trace.schema.big_endian;
    uint64_t number = big_endian ? htobe64(match->number) : htole64(match->number);
    size_t size = (71u - (unsigned)__builtin_clzll(match->number | 1)) / 8;
    return has_part((const char *)packet->bytes, packet->content_bytes, match->text) ||
           (match->has_number && memmem(packet->bytes, packet->content_bytes,
                                        (char *)&number + (big_endian ? sizeof(number) - size : 0), size));
}

/* Whether one of the packets from BEGIN to LAST may match. A packet that is not in Tarn's form may. */
static bool scan_stream(struct match *match, const struct stream *stream, uint64_t begin, uint64_t last)
{
    const struct trace *trace = &match->view->trace;
    struct packet packet;
    for (; begin <= last && begin < stream->size; begin += packet.packet_bytes)
        if (anomaly_is_fatal(stream_packet(trace, stream, begin, &match->packet, &packet)) ||
            !tells_who_runs(&trace->schema, &packet) || has_bytes(match, &packet))
            return true;
    return false;
}

/* Returns the packet at which a stream stands before a stride. Without a checkpoint: its start for the first
 * stride, else its end. */
static uint64_t packet_before(const struct match *match, size_t stride, const struct stream *stream)
{
    struct buffer_reader reader;
    struct position position;
    if (stride == 0)
        return 0;
    reader = blob_array_get(&match->view->index.checkpoints, stride - 1);
    if (reader.failed)
        return stream->size;
    buffer_skip(&reader, stream->rank * sizeof(position));
    buffer_get(&reader, &position, sizeof(position));
    return position.packet;
}

bool match_in_stride(struct match *match, size_t stride)
{
    const struct trace *trace = &match->view->trace;
    bool has_type = false, is_found = match->text == NULL; /* is_found: without a search in the bytes */
    if (!sum_stride(match, stride))
        return true;
    for (unsigned type = 0; type < match->sum.event_count; type++)
        if (match->sum.events[type] != 0 && match->types[type]) {
            has_type = true;
            is_found |= match->by_index[type];
        }
    if (!has_type || !has_thread(match))
        return false;
    for (unsigned i = 0; i < trace->stream_count && !is_found; i++)
        is_found = match->cpus[i] &&
                   scan_stream(match, &trace->streams[i], packet_before(match, stride, &trace->streams[i]),
                               packet_before(match, stride + 1, &trace->streams[i]));
    return is_found;
}
