/* SPDX-License-Identifier: BSD-2-Clause */
/* prefilter.c - which parts of a trace may contain what is wanted; see match.h. */
#include <stdlib.h>
#include <tools/tarn/read/filter.h>
#include <tools/tarn/view/match.h>

/* Sets the number's bytes without leading zeros, because a
 * field may be narrow; negative numbers are not searched. */
static void set_number(struct prefilter_need *need, const struct schema *schema, uint64_t number)
{
    if (number > INT64_MAX)
        return;
    for (need->number_size = 1; number >> 8 * need->number_size != 0;)
        need->number_size++;
    for (unsigned i = 0; i < need->number_size; i++)
        need->number[schema->big_endian ? need->number_size - 1 - i : i] = (uint8_t)(number >> 8 * i);
}

static struct prefilter_need *add_need(struct prefilter *prefilter, const char *text, bool has_number,
                                       uint64_t number)
{
    const struct trace *trace = &prefilter->view->trace;
    struct prefilter_need *need = &prefilter->needs[prefilter->need_count++];

    need->text = text;
    need->by_index = alloc_zero(trace->schema.event_count + 1, sizeof(bool));
    need->scans = alloc_zero(trace->stream_count + 1, sizeof(need->scans[0]));
    if (has_number)
        set_number(need, &trace->schema, number);
    return need;
}

static void need_text(struct prefilter *prefilter)
{
    const struct schema *schema = &prefilter->view->trace.schema;
    const struct match *match = prefilter->match;
    struct prefilter_need *need = add_need(prefilter, match->text, match->has_number, match->number);

    for (unsigned i = 0; i < schema->event_count; i++) {
        need->by_index[i] = match->named[i];
        for (unsigned k = 0; k < schema->events[i]->field_count; k++) {
            const struct field *field = &schema->events[i]->fields[k];

            need->by_index[i] |=
                (field->kind == FIELD_ENUM && label_has_text(field, match->text)) ||
                (field->kind == FIELD_INTEGER && match->has_number && need->number_size == 0);
        }
    }
}

static void need_value(struct prefilter *prefilter)
{
    const struct match *match = prefilter->match;
    struct prefilter_need *need = add_need(prefilter, match->value, match->has_value, match->wanted);

    for (unsigned i = 0; i < prefilter->view->trace.schema.event_count; i++) {
        const struct field *field = match->fields[i];
        bool is_text = field != NULL && (field->kind == FIELD_TEXT || field->kind == FIELD_STRING);
        bool is_number = field != NULL && field->kind == FIELD_INTEGER && need->number_size > 0;

        need->by_index[i] = field != NULL && !is_number && !(is_text && *match->value != '\0');
    }
}

void prefilter_open(struct prefilter *prefilter, const struct view *view, const struct match *match)
{
    unsigned types = view->trace.schema.event_count;
    uint32_t threads = index_thread_count(&view->index);

    *prefilter = (struct prefilter){.view = view, .match = match};
    if (match->all)
        return;
    prefilter->types = alloc_zero(types + 1, sizeof(bool));
    for (unsigned i = 0; i < types; i++)
        prefilter->types[i] = match->types[i] && (match->field == NULL || match->fields[i] != NULL);
    if (match->text != NULL)
        need_text(prefilter);
    if (match->field != NULL && match->value != NULL)
        need_value(prefilter);
    if (match->tids == NULL)
        return;
    prefilter->threads = alloc_zero(threads + 1, sizeof(bool));
    for (uint32_t i = 0; i < threads; i++)
        prefilter->threads[i] = list_has(match->tids, index_thread(&view->index, i)->tid);
}

void prefilter_close(struct prefilter *prefilter)
{
    for (unsigned i = 0; i < prefilter->need_count; i++) {
        free(prefilter->needs[i].by_index);
        free(prefilter->needs[i].scans);
    }
    free(prefilter->types);
    free(prefilter->threads);
    free(prefilter->buffer.bytes);
}

/* ---- index ---- */

struct looker {
    struct node_visitor visitor;
    const struct prefilter *prefilter;
    uint32_t thread_count;
    bool has_type, has_thread;
    bool has_need[2]; /* a wanted type that needs no search in the bytes */
};

static void see_events(struct node_visitor *visitor, uint32_t type, uint64_t count)
{
    struct looker *looker = (struct looker *)visitor;

    if (count == 0 || !looker->prefilter->types[type])
        return;
    looker->has_type = true;
    for (unsigned i = 0; i < looker->prefilter->need_count; i++)
        looker->has_need[i] |= looker->prefilter->needs[i].by_index[type];
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

/* Reads a node of the index; a malformed one may contain anything. */
static void look_at(struct looker *looker, unsigned level, size_t node)
{
    const struct view *view = looker->prefilter->view;

    if (!node_visit(&looker->visitor, blob_array_get(&view->index.levels[level], node),
                    view->trace.stream_count, view->trace.schema.event_count))
        looker->has_type = looker->has_thread = looker->has_need[0] = looker->has_need[1] = true;
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

static bool has_bytes(const struct prefilter_need *need, const struct packet *packet)
{
    return has_part((const char *)packet->bytes, packet->content_bytes, need->text) ||
           (need->number_size > 0 &&
            memmem(packet->bytes, packet->content_bytes, need->number, need->number_size) != NULL);
}

/* Reads the packet of STREAM at OFFSET into SCAN: its end, and whether it has what is needed. A packet that
 * is not in Tarn's form may have it. */
static void scan_packet(struct prefilter *prefilter, const struct prefilter_need *need,
                        const struct stream *stream, uint64_t offset, struct prefilter_scan *scan)
{
    const struct trace *trace = &prefilter->view->trace;
    struct packet packet;

    *scan = (struct prefilter_scan){.offset = offset, .end = UINT64_MAX, .has_bytes = true};
    if (anomaly_is_fatal(stream_packet(trace, stream, offset, &prefilter->buffer, &packet)))
        return;
    scan->end = offset + packet.packet_bytes;
    scan->has_bytes = !tells_who_runs(&trace->schema, &packet) || has_bytes(need, &packet);
}

/* Whether one of the packets from BEGIN to LAST has what is needed. */
static bool scan_stream(struct prefilter *prefilter, const struct prefilter_need *need,
                        const struct stream *stream, uint64_t begin, uint64_t last)
{
    struct prefilter_scan *scan = &need->scans[stream->rank];

    while (begin <= last && begin < stream->size) {
        if (scan->end == 0 || scan->offset != begin)
            scan_packet(prefilter, need, stream, begin, scan);
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

static bool scan_stride(struct prefilter *prefilter, const struct prefilter_need *need, size_t stride)
{
    const struct trace *trace = &prefilter->view->trace;
    struct position *from = alloc_zero(trace->stream_count + 1, sizeof(*from));
    struct position *to = alloc_zero(trace->stream_count + 1, sizeof(*to));
    bool has = false;

    find_positions(prefilter, stride, from);
    find_positions(prefilter, stride + 1, to);
    for (unsigned i = 0; i < trace->stream_count && !has; i++)
        has = prefilter->match->cpus[i] &&
              scan_stream(prefilter, need, &trace->streams[i], from[i].packet, to[i].packet);
    free(from);
    free(to);
    return has;
}

bool prefilter_may_hold(struct prefilter *prefilter, size_t stride)
{
    struct looker looker = {.visitor = {.events = see_events},
                            .prefilter = prefilter,
                            .thread_count = index_thread_count(&prefilter->view->index)};

    if (prefilter->types == NULL)
        return true;
    if (prefilter->threads != NULL) {
        looker.visitor.ran = see_ran;
        looker.visitor.thread = see_change;
    }
    look_at_stride(&looker, stride);
    if (!looker.has_type || (prefilter->threads != NULL && !looker.has_thread))
        return false;
    for (unsigned i = 0; i < prefilter->need_count; i++)
        if (!looker.has_need[i] && !scan_stride(prefilter, &prefilter->needs[i], stride))
            return false;
    return true;
}
