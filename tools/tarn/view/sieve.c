/* SPDX-License-Identifier: BSD-2-Clause */
/* sieve.c - which parts of a trace may contain what is wanted; see sieve.h. */
#include <stdlib.h>
#include <tools/tarn/read/filter.h>
#include <tools/tarn/view/sieve.h>

/* Sets the number's bytes without leading zeros, because a
 * field may be narrow; negative numbers are not searched. */
static void set_number(struct sieve_need *need, const struct schema *schema, uint64_t number)
{
    if (number > INT64_MAX)
        return;
    for (need->number_size = 1; number >> 8 * need->number_size != 0;)
        need->number_size++;
    for (unsigned i = 0; i < need->number_size; i++)
        need->number[schema->big_endian ? need->number_size - 1 - i : i] = (uint8_t)(number >> 8 * i);
}

static struct sieve_need *add_need(struct sieve *sieve, const char *text, bool has_number, uint64_t number)
{
    const struct trace *trace = &sieve->view->trace;
    struct sieve_need *need = &sieve->needs[sieve->need_count++];

    need->text = text;
    need->by_index = alloc_zero(trace->schema.event_count + 1, sizeof(bool));
    need->scans = alloc_zero(trace->stream_count + 1, sizeof(need->scans[0]));
    if (has_number)
        set_number(need, &trace->schema, number);
    return need;
}

static void need_text(struct sieve *sieve)
{
    const struct schema *schema = &sieve->view->trace.schema;
    const struct match *match = sieve->match;
    struct sieve_need *need = add_need(sieve, match->text, match->has_number, match->number);

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

static void need_value(struct sieve *sieve)
{
    const struct match *match = sieve->match;
    struct sieve_need *need = add_need(sieve, match->value, match->has_value, match->wanted);

    for (unsigned i = 0; i < sieve->view->trace.schema.event_count; i++) {
        const struct field *field = match->fields[i];
        bool is_text = field != NULL && (field->kind == FIELD_TEXT || field->kind == FIELD_STRING);
        bool is_number = field != NULL && field->kind == FIELD_INTEGER && need->number_size > 0;

        need->by_index[i] = field != NULL && !is_number && !(is_text && *match->value != '\0');
    }
}

void sieve_open(struct sieve *sieve, const struct view *view, const struct match *match)
{
    unsigned types = view->trace.schema.event_count;
    uint32_t threads = index_thread_count(&view->index);

    *sieve = (struct sieve){.view = view, .match = match};
    if (match->all)
        return;
    sieve->types = alloc_zero(types + 1, sizeof(bool));
    for (unsigned i = 0; i < types; i++)
        sieve->types[i] = match->types[i] && (match->field == NULL || match->fields[i] != NULL);
    if (match->text != NULL)
        need_text(sieve);
    if (match->field != NULL && match->value != NULL)
        need_value(sieve);
    if (match->tids == NULL)
        return;
    sieve->threads = alloc_zero(threads + 1, sizeof(bool));
    for (uint32_t i = 0; i < threads; i++)
        sieve->threads[i] = list_has(match->tids, index_thread(&view->index, i)->tid);
}

void sieve_close(struct sieve *sieve)
{
    for (unsigned i = 0; i < sieve->need_count; i++) {
        free(sieve->needs[i].by_index);
        free(sieve->needs[i].scans);
    }
    free(sieve->types);
    free(sieve->threads);
    free(sieve->buffer.bytes);
}

/* ---- index ---- */

struct looker {
    struct node_visitor visitor;
    const struct sieve *sieve;
    uint32_t thread_count;
    bool has_type, has_thread;
    bool has_need[2]; /* a wanted type that needs no search in the bytes */
};

static void see_events(struct node_visitor *visitor, uint32_t type, uint64_t count)
{
    struct looker *looker = (struct looker *)visitor;

    if (count == 0 || !looker->sieve->types[type])
        return;
    looker->has_type = true;
    for (unsigned i = 0; i < looker->sieve->need_count; i++)
        looker->has_need[i] |= looker->sieve->needs[i].by_index[type];
}

static void see_thread(struct looker *looker, uint32_t number)
{
    looker->has_thread |= number >= looker->thread_count || looker->sieve->threads[number];
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
    const struct view *view = looker->sieve->view;

    if (!node_visit(&looker->visitor, pile_get(&view->index.levels[level], node), view->trace.stream_count,
                    view->trace.schema.event_count))
        looker->has_type = looker->has_thread = looker->has_need[0] = looker->has_need[1] = true;
}

static void look_at_stride(struct looker *looker, size_t stride)
{
    const struct index *index = &looker->sieve->view->index;
    size_t block = stride * INDEX_STRIDE, end = block + INDEX_STRIDE;

    if (end > index_block_count(index))
        end = index_block_count(index);
    while (block < end) {
        unsigned level = block / INDEX_FANOUT < pile_count(&index->levels[1]);

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

static bool has_bytes(const struct sieve_need *need, const struct packet *packet)
{
    return has_part((const char *)packet->bytes, packet->content_bytes, need->text) ||
           (need->number_size > 0 &&
            memmem(packet->bytes, packet->content_bytes, need->number, need->number_size) != NULL);
}

/* Reads the packet of STREAM at OFFSET into SCAN: its end, and whether it has what is needed. A packet that
 * is not in Tarn's form may have it. */
static void scan_packet(struct sieve *sieve, const struct sieve_need *need, const struct stream *stream,
                        uint64_t offset, struct sieve_scan *scan)
{
    const struct trace *trace = &sieve->view->trace;
    struct packet packet;

    *scan = (struct sieve_scan){.offset = offset, .end = UINT64_MAX, .has_bytes = true};
    if (anomaly_is_fatal(stream_packet(trace, stream, offset, &sieve->buffer, &packet)))
        return;
    scan->end = offset + packet.packet_bytes;
    scan->has_bytes = !tells_who_runs(&trace->schema, &packet) || has_bytes(need, &packet);
}

/* Whether one of the packets from BEGIN to LAST has what is needed. */
static bool scan_stream(struct sieve *sieve, const struct sieve_need *need, const struct stream *stream,
                        uint64_t begin, uint64_t last)
{
    struct sieve_scan *scan = &need->scans[stream->rank];

    while (begin <= last && begin < stream->size) {
        if (scan->end == 0 || scan->offset != begin)
            scan_packet(sieve, need, stream, begin, scan);
        if (scan->has_bytes)
            return true;
        begin = scan->end;
    }
    return false;
}

/* Returns the positions of the streams before a stride. Without a checkpoint: their starts for the first
 * stride, else their ends. */
static void find_positions(const struct sieve *sieve, size_t stride, struct position *positions)
{
    const struct view *view = sieve->view;
    struct buffer_reader reader = {.failed = true};

    if (stride > 0)
        reader = pile_get(&view->index.checkpoints, stride - 1);
    if (!reader.failed)
        buffer_get(&reader, positions, view->trace.stream_count * sizeof(*positions));
    for (unsigned i = 0; i < view->trace.stream_count && reader.failed; i++)
        positions[i] = (struct position){.packet = stride > 0 ? view->trace.streams[i].size : 0};
}

static bool scan_stride(struct sieve *sieve, const struct sieve_need *need, size_t stride)
{
    const struct trace *trace = &sieve->view->trace;
    struct position *from = alloc_zero(trace->stream_count + 1, sizeof(*from));
    struct position *to = alloc_zero(trace->stream_count + 1, sizeof(*to));
    bool has = false;

    find_positions(sieve, stride, from);
    find_positions(sieve, stride + 1, to);
    for (unsigned i = 0; i < trace->stream_count && !has; i++)
        has = sieve->match->cpus[i] &&
              scan_stream(sieve, need, &trace->streams[i], from[i].packet, to[i].packet);
    free(from);
    free(to);
    return has;
}

bool sieve_may_hold(struct sieve *sieve, size_t stride)
{
    struct looker looker = {.visitor = {.events = see_events},
                            .sieve = sieve,
                            .thread_count = index_thread_count(&sieve->view->index)};

    if (sieve->types == NULL)
        return true;
    if (sieve->threads != NULL) {
        looker.visitor.ran = see_ran;
        looker.visitor.thread = see_change;
    }
    look_at_stride(&looker, stride);
    if (!looker.has_type || (sieve->threads != NULL && !looker.has_thread))
        return false;
    for (unsigned i = 0; i < sieve->need_count; i++)
        if (!looker.has_need[i] && !scan_stride(sieve, &sieve->needs[i], stride))
            return false;
    return true;
}
