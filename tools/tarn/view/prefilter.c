/* prefilter.c - finds the parts of a trace that may contain a match; see match.h. */
#include <stdlib.h>
#include <tools/tarn/read/filter.h>
#include <tools/tarn/view/match.h>

/* Sets the number's bytes without leading zeros, because a field may be narrow. */
static void set_number(struct prefilter *prefilter, const struct schema *schema, uint64_t number)
{
    unsigned size = 1;
    while (size < sizeof(prefilter->number) && number >> 8 * size != 0)
        size++;
    for (unsigned i = 0; i < size; i++)
        prefilter->number[schema->big_endian ? size - 1 - i : i] = (uint8_t)(number >> 8 * i);
    prefilter->number_size = size;
}

void prefilter_open(struct prefilter *prefilter, const struct view *view, const struct match *match)
{
    *prefilter = (struct prefilter){.view = view, .match = match};
    tally_open(&prefilter->sum, &view->trace);
    if (match->has_number && match->number <= INT64_MAX)
        set_number(prefilter, &view->trace.schema, match->number);
}

void prefilter_close(struct prefilter *prefilter)
{
    tally_close(&prefilter->sum);
    free(prefilter->buffer.bytes);
}

/* ---- index ---- */

/* Adds up a stride. False: a part of it cannot be read, and may contain anything. */
static bool sum_stride(struct prefilter *prefilter, size_t stride)
{
    const struct index *index = &prefilter->view->index;
    size_t first = stride * INDEX_STRIDE, left = index_block_count(index) - first;
    unsigned level = left >= INDEX_STRIDE; /* at the end, the node of level 1 may not be complete */
    size_t blocks = index_node_blocks(level), count = level > 0 ? INDEX_STRIDE : left;
    return index_sum_nodes(index, level, first / blocks, count / blocks, &prefilter->sum);
}

/* Whether a wanted thread ran or changed its state. */
static bool has_thread(const struct prefilter *prefilter)
{
    const struct tally *sum = &prefilter->sum;
    uint32_t count = index_thread_count(&prefilter->view->index);
    bool has = prefilter->match->tids == NULL;
    for (uint32_t i = 0; i < sum->touched_count && !has; i++)
        has = sum->touched[i] >= count ||
              list_has(prefilter->match->tids, index_thread(&prefilter->view->index, sum->touched[i])->tid);
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

static bool has_bytes(const struct prefilter *prefilter, const struct packet *packet)
{
    return has_part((const char *)packet->bytes, packet->content_bytes, prefilter->match->text) ||
           (prefilter->number_size > 0 &&
            memmem(packet->bytes, packet->content_bytes, prefilter->number, prefilter->number_size) != NULL);
}

/* Whether one of the packets from BEGIN to LAST may match. A packet that is not in Tarn's form may. */
static bool scan_stream(struct prefilter *prefilter, const struct stream *stream, uint64_t begin,
                        uint64_t last)
{
    const struct trace *trace = &prefilter->view->trace;
    struct packet packet;
    for (; begin <= last && begin < stream->size; begin += packet.packet_bytes)
        if (anomaly_is_fatal(stream_packet(trace, stream, begin, &prefilter->buffer, &packet)) ||
            !tells_who_runs(&trace->schema, &packet) || has_bytes(prefilter, &packet))
            return true;
    return false;
}

/* Returns the packet at which a stream stands before a stride. Without a checkpoint: its start for the first
 * stride, else its end. */
static uint64_t packet_before(const struct prefilter *prefilter, size_t stride, const struct stream *stream)
{
    struct buffer_reader reader;
    struct position position;
    if (stride == 0)
        return 0;
    reader = blob_array_get(&prefilter->view->index.checkpoints, stride - 1);
    if (reader.failed)
        return stream->size;
    buffer_skip(&reader, stream->rank * sizeof(position));
    buffer_get(&reader, &position, sizeof(position));
    return position.packet;
}

static bool scan_stride(struct prefilter *prefilter, size_t stride)
{
    const struct trace *trace = &prefilter->view->trace;
    bool has = false;
    for (const struct stream *stream = trace->streams; stream < trace->streams + trace->stream_count && !has;
         stream++)
        has = prefilter->match->cpus[stream->rank] &&
              scan_stream(prefilter, stream, packet_before(prefilter, stride, stream),
                          packet_before(prefilter, stride + 1, stream));
    return has;
}

bool prefilter_may_hold(struct prefilter *prefilter, size_t stride)
{
    const struct match *match = prefilter->match;
    bool has_type = false, is_found = match->text == NULL; /* is_found: without a search in the bytes */
    if (!sum_stride(prefilter, stride))
        return true;
    for (unsigned type = 0; type < prefilter->sum.event_count; type++)
        if (prefilter->sum.events[type] != 0 && match->types[type]) {
            has_type = true;
            is_found |= match->by_index[type];
        }
    return has_type && has_thread(prefilter) && (is_found || scan_stride(prefilter, stride));
}
