/* match.c - selects events for a list or a search; see match.h. */
#include <ctype.h>
#include <endian.h>
#include <stdlib.h>
#include <strings.h>
#include <tools/tarn/read/filter.h>
#include <tools/tarn/view/match.h>

/* Whether TEXT contains PART, case-insensitive; fast for long texts. */
static bool has_part(const char *text, size_t length, const char *part)
{
    size_t wanted = strlen(part);
    const char *end = length >= wanted ? text + length - wanted + 1 : text;
    const char *next[2] = {text, text};
    const int first[2] = {tolower((unsigned char)part[0]), toupper((unsigned char)part[0])};
    if (wanted == 0)
        return true;
    for (const char *at = text; at < end; at++) {
        for (int i = 0; i < 2; i++)
            if (next[i] != NULL && next[i] <= at)
                next[i] = memchr(at, first[i], (size_t)(end - at));
        at = next[0] == NULL || (next[1] != NULL && next[1] < next[0]) ? next[1] : next[0];
        if (at == NULL)
            return false;
        if (strncasecmp(at, part, wanted) == 0)
            return true;
    }
    return false;
}

static bool label_has_text(const struct field *field, const char *text)
{
    for (const struct label *label = field->labels; label != NULL; label = label->next)
        if (has_part(label->name, strlen(label->name), text))
            return true;
    return false;
}

/* Finds out which event types can have the wanted text. */
static void learn_types(struct match *match, const struct schema *schema)
{
    for (unsigned i = 0; i < schema->event_count; i++) {
        const struct event_type *type = schema->events[i];
        match->named[i] = has_part(type->name, strlen(type->name), match->text);
        for (unsigned k = 0; k < type->field_count; k++) {
            const struct field *field = &type->fields[k];
            /* negative numbers are not searched in the bytes */
            match->by_index[i] |= (field->kind == FIELD_ENUM && label_has_text(field, match->text)) ||
                                  (field->kind == FIELD_INTEGER && match->number > INT64_MAX);
        }
        match->by_index[i] |= match->named[i];
    }
}

void match_open(struct match *match, const struct view *view, const struct request *request)
{
    const struct schema *schema = &view->trace.schema;
    size_t capacity = schema->event_count + 1;
    memset(match, 0, sizeof(*match));
    match->types = request_set(request, "events", schema->event_count, true);
    match->cpus = request_set(request, "cpus", view->trace.stream_count, true);
    match->tids = request_text(request, "tids");
    match->text = request_text(request, "text");
    match->named = alloc_zero(capacity, sizeof(bool));
    match->by_index = alloc_zero(capacity, sizeof(bool));
    match->runners = alloc_zero(view->trace.stream_count + 1, sizeof(match->runners[0]));
    if (match->text != NULL && *match->text == '\0')
        match->text = NULL;
    if (match->text != NULL) {
        char *end;
        match->number = strtoull(match->text, &end, 0);
        match->has_number = *match->text >= '0' && *match->text <= '9' && *end == '\0';
        match->number = match->has_number ? match->number : 0;
        learn_types(match, schema);
    }
    match->view = view;
    tally_open(&match->sum, &view->trace);
}

void match_close(struct match *match)
{
    free(match->types);
    free(match->cpus);
    free(match->named);
    free(match->by_index);
    free(match->runners);
    tally_close(&match->sum);
    free(match->packet.bytes);
}

static bool field_has_text(const struct match *match, const struct field *field, const struct event *event)
{
    const char *label;
    uint64_t value;
    if (field->kind == FIELD_TEXT || field->kind == FIELD_STRING)
        return has_part((const char *)event->bytes + field->offset, field_text_length(field, event),
                        match->text);
    if (field->kind != FIELD_INTEGER && field->kind != FIELD_ENUM)
        return false;
    value = field_integer(field, event->bytes);
    if (field->kind == FIELD_INTEGER)
        return match->has_number && value == match->number;
    label = field_label(field, value);
    return label != NULL && has_part(label, strlen(label), match->text);
}

static bool has_text(const struct match *match, const struct event *event, const struct match_runner *runner)
{
    const struct event_type *type = event->type;
    if (match->named[type->index] || runner->has_text)
        return true;
    for (unsigned i = 0; i < type->field_count; i++)
        if (field_has_text(match, &type->fields[i], event))
            return true;
    return false;
}

static bool is_same(const struct running *a, const struct running *b)
{
    return a->is_known == b->is_known && a->tid == b->tid && a->comm_length == b->comm_length &&
           memcmp(a->comm, b->comm, a->comm_length) == 0;
}

static const struct match_runner *find_runner(struct match *match, const struct cursor *cursor)
{
    const struct running *running = cursor_running(cursor);
    struct match_runner *runner = &match->runners[cursor->rank];
    if (!is_same(&runner->running, running)) {
        runner->running = *running;
        runner->is_wanted = match->tids != NULL && running->is_known && list_has(match->tids, running->tid);
        runner->has_text = match->text != NULL && has_part(running->comm, running->comm_length, match->text);
    }
    return runner;
}

bool match_event(struct match *match, const struct cursor *cursor)
{
    const struct event *event = &cursor->event;
    if (!match->types[event->type->index] || !match->cpus[cursor->rank])
        return false;
    if (match->tids != NULL && !find_runner(match, cursor)->is_wanted)
        return false;
    return match->text == NULL || has_text(match, event, find_runner(match, cursor));
}

/*
 * The prefilter: whether a stride may contain a match, without decoding events. If the types of its events in
 * the index do not exclude a text or a value, its bytes are searched in the packets, which is many times
 * faster than a walk: strings and the names of running threads are stored literally (a context event has the
 * name at the start of each packet), numbers in the trace's byte order. There are false positives, but no
 * false negatives.
 */

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
    if (!index_sum_stride(&match->view->index, stride, &match->sum))
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
