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
    prefilter->scans = alloc_zero(view->trace.stream_count + 1, sizeof(prefilter->scans[0]));
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
    free(prefilter->scans);
    free(prefilter->threads);
    free(prefilter->buffer.bytes);
}

/* ---- index ---- */

struct looker {
    struct node_visitor visitor;
    const struct prefilter *prefilter;
    uint32_t thread_count;
    bool has_type, has_thread;
    bool has_text; /* a wanted type that needs no search in the bytes */
};

static void see_events(struct node_visitor *visitor, uint32_t type, uint64_t count)
{
    struct looker *looker = (struct looker *)visitor;

    if (count == 0 || !looker->prefilter->match->types[type])
        return;
    looker->has_type = true;
    looker->has_text |= looker->prefilter->match->text == NULL || looker->prefilter->match->by_index[type];
}

static void see_thread(struct looker *looker, uint32_t number)
{
    looker->has_thread |= number >= looker->thread_count || looker->prefilter->threads[number];
}

static void see_ran(struct node_visitor *visitor, uint32_t rank, uint32_t thread, uint64_t ticks)
{
    see_thread((struct looker *)visitor, thread);
}

static void see_change(struct node_visitor *visitor, uint32_t number, enum node_kind first,
                       enum node_kind last, const uint64_t ticks[NODE_KINDS])
{
    see_thread((struct looker *)visitor, number);
}

/* Reads a node of the index; what is not there may contain anything. */
static void look_at(struct looker *looker, unsigned level, size_t node)
{
    const struct view *view = looker->prefilter->view;
    struct buffer_reader reader = blob_array_get(&view->index.levels[level], node);

    if (reader.failed)
        looker->has_type = looker->has_thread = looker->has_text = true;
    else
        node_visit(&looker->visitor, reader, view->trace.stream_count);
}

static void look_at_stride(struct looker *looker, size_t stride)
{
    const struct index *index = &looker->prefilter->view->index;
    size_t block = stride * INDEX_STRIDE, end = block + INDEX_STRIDE;

    if (end > index_block_count(index))
        end = index_block_count(index);
    while (block < end) {
        unsigned level = block / INDEX_FANOUT < blob_array_count(&index->levels[1]);

        look_at(looker, level, level ? block / INDEX_FANOUT : block);
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

/* Reads the packet of STREAM at OFFSET into SCAN: its end, and whether it may match. A packet that is
 * not in Tarn's form may. */
static void scan_packet(struct prefilter *prefilter, const struct stream *stream, uint64_t offset,
                        struct prefilter_scan *scan)
{
    const struct trace *trace = &prefilter->view->trace;
    struct packet packet;

    *scan = (struct prefilter_scan){.offset = offset, .end = UINT64_MAX, .has_bytes = true};
    if (anomaly_is_fatal(stream_packet(trace, stream, offset, &prefilter->buffer, &packet)))
        return;
    scan->end = offset + packet.packet_bytes;
    scan->has_bytes = !tells_who_runs(&trace->schema, &packet) || has_bytes(prefilter, &packet);
}

/* Whether one of the packets from BEGIN to LAST may match. */
static bool scan_stream(struct prefilter *prefilter, const struct stream *stream, uint64_t begin,
                        uint64_t last)
{
    struct prefilter_scan *scan = &prefilter->scans[stream->rank];

    while (begin <= last && begin < stream->size) {
        if (scan->end == 0 || scan->offset != begin)
            scan_packet(prefilter, stream, begin, scan);
        if (scan->has_bytes)
            return true;
        begin = scan->end;
    }
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
    struct looker looker = {.visitor = {.events = see_events},
                            .prefilter = prefilter,
                            .thread_count = index_thread_count(&prefilter->view->index)};

    if (prefilter->match->all)
        return true;
    if (prefilter->threads != NULL) {
        looker.visitor.ran = see_ran;
        looker.visitor.thread = see_change;
    }
    look_at_stride(&looker, stride);
    if (!looker.has_type || (prefilter->threads != NULL && !looker.has_thread))
        return false;
    return looker.has_text || scan_stride(prefilter, stride);
}
