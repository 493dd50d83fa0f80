/* SPDX-License-Identifier: BSD-2-Clause */
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
    uint32_t threads = index_thread_count(&view->index);

    *prefilter = (struct prefilter){.view = view, .match = match};
    tally_open(&prefilter->node, &view->trace);
    if (match->has_number && match->number <= INT64_MAX)
        set_number(prefilter, &view->trace.schema, match->number);
    if (match->tids == NULL)
        return;
    prefilter->threads = alloc_zero(threads + 1, sizeof(bool));
    for (uint32_t i = 0; i < threads; i++)
        prefilter->threads[i] = list_has(match->tids, index_thread(&view->index, i)->tid);
}

void prefilter_close(struct prefilter *prefilter)
{
    tally_close(&prefilter->node);
    free(prefilter->threads);
    free(prefilter->buffer.bytes);
}

/* ---- index ---- */

/* What nodes of the index have. */
struct found {
    bool has_type, has_thread;
    bool has_text; /* a wanted type that needs no search in the bytes */
};

static void see_events(const struct match *match, const struct tally *node, struct found *found)
{
    for (unsigned type = 0; type < node->event_count; type++)
        if (node->events[type] != 0 && match->types[type]) {
            found->has_type = true;
            found->has_text |= match->text == NULL || match->by_index[type];
        }
}

static void see_threads(const struct prefilter *prefilter, struct found *found)
{
    const struct tally *node = &prefilter->node;
    uint32_t count = index_thread_count(&prefilter->view->index);

    for (uint32_t i = 0; i < node->touched_count; i++)
        found->has_thread |= node->touched[i] >= count || prefilter->threads[node->touched[i]];
}

/* Reads a node of the index; what is not there may contain anything. */
static void look_at(struct prefilter *prefilter, unsigned level, size_t number, struct found *found)
{
    struct buffer_reader reader = blob_array_get(&prefilter->view->index.levels[level], number);

    if (reader.failed) {
        found->has_type = found->has_thread = found->has_text = true;
        return;
    }
    tally_decode(&prefilter->node, reader, 0);
    see_events(prefilter->match, &prefilter->node, found);
    if (prefilter->threads != NULL)
        see_threads(prefilter, found);
}

static void look_at_stride(struct prefilter *prefilter, size_t stride, struct found *found)
{
    const struct index *index = &prefilter->view->index;
    size_t block = stride * INDEX_STRIDE, end = block + INDEX_STRIDE;

    if (end > index_block_count(index))
        end = index_block_count(index);
    while (block < end) {
        unsigned level = block / INDEX_FANOUT < blob_array_count(&index->levels[1]);

        look_at(prefilter, level, level ? block / INDEX_FANOUT : block, found);
        block += level ? INDEX_FANOUT : 1;
    }
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

/* Returns the positions of the streams before a stride. Without a checkpoint: their starts for the first
 * stride, else their ends. */
static void find_positions(const struct prefilter *prefilter, size_t stride, struct position *positions)
{
    const struct view *view = prefilter->view;
    struct buffer_reader reader = {.failed = true};

    if (stride > 0)
        reader = blob_array_get(&view->index.checkpoints, stride - 1);
    if (!reader.failed)
        buffer_get(&reader, positions, view->trace.stream_count * sizeof(*positions));
    for (unsigned i = 0; i < view->trace.stream_count && reader.failed; i++)
        positions[i] = (struct position){.packet = stride > 0 ? view->trace.streams[i].size : 0};
}

static bool scan_stride(struct prefilter *prefilter, size_t stride)
{
    const struct trace *trace = &prefilter->view->trace;
    struct position *from = alloc_zero(trace->stream_count + 1, sizeof(*from));
    struct position *to = alloc_zero(trace->stream_count + 1, sizeof(*to));
    bool has = false;

    find_positions(prefilter, stride, from);
    find_positions(prefilter, stride + 1, to);
    for (unsigned i = 0; i < trace->stream_count && !has; i++)
        has = prefilter->match->cpus[i] &&
              scan_stream(prefilter, &trace->streams[i], from[i].packet, to[i].packet);
    free(from);
    free(to);
    return has;
}

bool prefilter_may_hold(struct prefilter *prefilter, size_t stride)
{
    struct found found = {.has_thread = prefilter->threads == NULL};

    if (prefilter->match->all)
        return true;
    look_at_stride(prefilter, stride, &found);
    return found.has_type && found.has_thread && (found.has_text || scan_stride(prefilter, stride));
}
