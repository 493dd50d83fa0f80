/* decode.c - packets to typed events: the slow paths; see decode.h. */
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/read/decode.h>

/* Whether the length of the string or sequence at the event's end fits the header's length. */
static bool tail_fits(const struct event_type *type, const uint8_t *bytes, uint32_t words)
{
    const struct field *tail = type->tail;
    uint64_t capacity = words * 8ul, size;
    if (words < type->words || capacity < tail->offset)
        return false;
    capacity -= tail->offset;
    if (tail->kind == FIELD_STRING) {
        const uint8_t *nul = memchr(bytes + tail->offset, 0, capacity);
        if (nul == NULL)
            return false;
        size = (uint64_t)(nul - (bytes + tail->offset)) + 1;
    } else {
        size = field_integer(tail->counter, bytes);
        if (size > capacity)
            return false;
        size *= tail->width;
    }
    return (tail->offset + size + 7) / 8 == words;
}

enum anomaly event_check(const struct event *event, size_t left)
{
    const struct event_type *type = event->type;
    if (event->words == 0 || event->words * 8ul > left)
        return ANOMALY_EVENT_LENGTH;
    if (type == NULL)
        return ANOMALY_EVENT_ID;
    if (type->tail == NULL ? event->words != type->words : !tail_fits(type, event->bytes, event->words))
        return ANOMALY_EVENT_LAYOUT;
    return ANOMALY_NONE;
}

size_t field_text_length(const struct field *field, const struct event *event)
{
    size_t capacity = field->kind == FIELD_TEXT ? field->count : event->words * 8ul - field->offset;
    return strnlen((const char *)event->bytes + field->offset, capacity);
}

static void send_report(const struct cursor *cursor, struct report report)
{
    report.stream = cursor->stream;
    if (cursor->reporter != NULL)
        cursor->reporter->report(cursor->reporter, &report);
}

/* Whether no packet is missing before HEADER. A CPU's first packet has number 0. */
static bool follows(const struct cursor *cursor, const struct trace_packet *header)
{
    if (cursor->is_broken)
        return false;
    if (!cursor->has_previous)
        return header->packet_seq_num == 0 && header->events_discarded == 0;
    return header->packet_seq_num == cursor->previous_seq + 1 &&
           header->events_discarded == cursor->previous_discarded;
}

static void remember(struct cursor *cursor, const struct trace_packet *header, uint64_t offset)
{
    cursor->has_previous = true;
    cursor->previous_offset = offset;
    cursor->previous_events_before = header->events_before;
    cursor->previous_end = header->timestamp_end;
    cursor->previous_discarded = header->events_discarded;
    cursor->previous_seq = header->packet_seq_num;
}

/* The count of events behind the packet at OFFSET, as far as it can be read: its end event does not count. */
static uint64_t count_behind(const struct cursor *cursor, uint64_t offset, bool *is_whole)
{
    const struct schema *schema = &cursor->trace->schema;
    struct packet_buffer buffer = {.bytes = NULL};
    struct packet packet;
    struct event event;
    uint64_t count = TRACE_EVENTS_UNKNOWN;
    *is_whole = false;
    if (!anomaly_is_fatal(stream_packet(cursor->trace, cursor->stream, offset, &buffer, &packet))) {
        const uint8_t *at = packet.bytes + sizeof(struct trace_packet),
                      *end = packet.bytes + packet.content_bytes;
        for (count = packet.header.events_before;
             at < end && event_decode(schema, at, (size_t)(end - at), &event) == ANOMALY_NONE;
             at += event.words * 8ul)
            count += event_id(schema, &event) != TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_END);
        *is_whole = at == end && packet.header.events_before != TRACE_EVENTS_UNKNOWN;
    }
    free(buffer.bytes);
    return count;
}

/* Returns how many events were lost between the previous packet and the one with HEADER. A number that the
 * lost packets cannot hold counts as unknown. */
static uint64_t count_missing(const struct cursor *cursor, const struct trace_packet *header)
{
    const uint64_t most = (header->packet_seq_num - cursor->previous_seq) * (header->packet_size / 64);
    uint64_t behind;
    bool is_whole;
    if (header->events_before == TRACE_EVENTS_UNKNOWN ||
        cursor->previous_events_before == TRACE_EVENTS_UNKNOWN)
        return TRACE_EVENTS_UNKNOWN;
    behind = count_behind(cursor, cursor->previous_offset, &is_whole);
    return behind <= header->events_before && header->events_before - behind <= most
               ? header->events_before - behind
               : TRACE_EVENTS_UNKNOWN;
}

/* Counts as babeltrace2 does: the difference of the counter between two packets, for the time from the end
 * of one to the end of the next. The number of events lost before a stream's first packet is unknown. */
void report_losses(struct cursor *cursor, const struct trace_packet *header, uint64_t offset)
{
    struct report report = {
        .offset = offset, .packet_seq = header->packet_seq_num, .end = header->timestamp_end};
    if (!cursor->has_previous) {
        const bool is_all =
            (header->flags & TRACE_PACKET_CLOSING) != 0; /* a snapshot got none of its packets */
        report.begin = is_all ? cursor->trace->begin : header->timestamp_begin;
        report.anomaly = ANOMALY_LOST_EVENTS;
        report.count = UINT64_MAX;
        if (header->events_discarded != 0 || is_all)
            send_report(cursor, report);
    } else {
        report.begin = cursor->previous_end;
        if (header->events_discarded != cursor->previous_discarded) {
            report.anomaly = header->events_discarded < cursor->previous_discarded ? ANOMALY_DISCARDED
                                                                                   : ANOMALY_LOST_EVENTS;
            report.count = header->events_discarded - cursor->previous_discarded;
            send_report(cursor, report);
        }
        report.end = header->timestamp_begin;
        if (header->packet_seq_num != cursor->previous_seq + 1) {
            report.anomaly =
                header->packet_seq_num <= cursor->previous_seq ? ANOMALY_SEQUENCE : ANOMALY_LOST_PACKETS;
            report.count = header->packet_seq_num - cursor->previous_seq - 1;
            if (report.anomaly == ANOMALY_LOST_PACKETS)
                report.events = count_missing(cursor, header);
            send_report(cursor, report);
        }
        if (header->timestamp_begin < cursor->previous_end) {
            report.anomaly = ANOMALY_PACKET_ORDER;
            report.count = 0;
            send_report(cursor, report);
        }
    }
    if (header->flags & TRACE_PACKET_CUT) {
        report.anomaly = ANOMALY_CUT;
        report.begin = header->timestamp_begin;
        report.end = header->timestamp_end;
        report.count = 0;
        send_report(cursor, report);
    }
    remember(cursor, header, offset);
}

/* Reads the packet before the start, to count losses before the next packet. */
static void look_back(struct cursor *cursor)
{
    const struct stream *stream = cursor->stream;
    uint64_t before = cursor->next_packet - stream->first_packet_bytes;
    struct trace_packet header;
    if (cursor->next_packet == 0 || cursor->next_packet < stream->first_packet_bytes ||
        anomaly_is_fatal(stream_header(cursor->trace, stream, before, &header)) ||
        header.packet_size / 8 != stream->first_packet_bytes)
        return;
    remember(cursor, &header, before);
    cursor->is_broken = (header.flags & TRACE_PACKET_CUT) != 0;
}

void cursor_report_packet(const struct cursor *cursor, struct reporter *reporter)
{
    const struct stream *stream = cursor->stream;
    uint64_t bytes = stream->first_packet_bytes;
    struct cursor again = {.trace = cursor->trace, .stream = stream, .reporter = reporter};
    struct trace_packet before;
    if (cursor->at == NULL)
        return;
    if (cursor->packet.offset >= bytes &&
        !anomaly_is_fatal(stream_header(cursor->trace, stream, cursor->packet.offset - bytes, &before)) &&
        before.packet_size / 8 == bytes) {
        again.next_packet = cursor->packet.offset - bytes;
        look_back(&again);
        report_losses(&again, &before, again.next_packet);
    }
    report_losses(&again, &cursor->packet.header, cursor->packet.offset);
}

static void open_at(struct cursor *cursor, const struct trace *trace, const struct stream *stream,
                    uint64_t packet)
{
    *cursor = (struct cursor){.trace = trace, .stream = stream, .rank = stream->rank, .next_packet = packet};
    look_back(cursor);
}

void cursor_open(struct cursor *cursor, const struct trace *trace, const struct stream *stream, uint64_t from,
                 struct reporter *reporter)
{
    open_at(cursor, trace, stream, from == 0 ? 0 : stream_seek(trace, stream, from));
    cursor->reporter = reporter;
}

struct position cursor_position(const struct cursor *cursor)
{
    if (cursor->at == NULL)
        return (struct position){.packet = cursor->next_packet};
    return (struct position){cursor->packet.offset, (uint64_t)(cursor->event.bytes - cursor->packet.bytes)};
}

bool cursor_open_at(struct cursor *cursor, const struct trace *trace, const struct stream *stream,
                    struct position position, struct reporter *reporter)
{
    bool found;
    open_at(cursor, trace, stream, position.packet);
    if (position.event == 0) {
        cursor->reporter = reporter;
        return cursor_next(cursor);
    }
    do
        found = cursor_next(cursor);
    while (found && cursor->packet.offset == position.packet &&
           (uint64_t)(cursor->event.bytes - cursor->packet.bytes) < position.event);
    cursor->reporter = reporter;
    return found;
}

void cursor_close(struct cursor *cursor)
{
    free(cursor->buffer.bytes);
    memset(cursor, 0, sizeof(*cursor));
}

static void running_name(struct running *running, const struct field *field, const uint8_t *bytes)
{
    const char *name = (const char *)bytes + field->offset;
    size_t length = strnlen(name, field->count < TRACE_NAME_BYTES ? field->count : TRACE_NAME_BYTES);
    running->comm_length = (uint8_t)length;
    memset(running->comm, 0, sizeof(running->comm));
    memcpy(running->comm, name, length);
}

/* TELLER: an event that names the running thread: a context for itself and later events, a switch for later
 * events. */
static void set_running(struct cursor *cursor, const uint8_t *teller)
{
    const struct schema *schema = &cursor->trace->schema;
    const struct known_events *known = &schema->known;
    struct running *running = &cursor->running;
    if (teller == cursor->running_of)
        return;
    bool is_switch = schema_event(schema, event_head(schema, teller).id)->role == EVENT_SWITCH;

    running->pid = (uint32_t)field_integer(is_switch ? known->next_pid : known->context_pid, teller);
    running->tid = (uint32_t)field_integer(is_switch ? known->next_tid : known->context_tid, teller);
    running_name(running, is_switch ? known->next_comm : known->context_name, teller);
    running->is_booting = running->comm_length == 0 && running->pid == 0 && !is_switch;
    if (running->comm_length == 0 && running->pid == 0) {
        memcpy(running->comm, "kernel", 6);
        running->comm_length = 6;
    }
    running->is_known = true;
    cursor->running_of = teller;
}

const struct running *cursor_find_running(struct cursor *cursor)
{
    const uint8_t *latest = cursor_teller(cursor, 0);
    bool is_leaving =
        latest != NULL && latest == cursor->event.bytes && cursor->event.type->role == EVENT_SWITCH;
    set_running(cursor, is_leaving ? cursor_teller(cursor, 1) : latest);
    return &cursor->running;
}

/* The current event gives a thread a name; if it is the running one, it has it from here on. */
static void rename_running(struct cursor *cursor)
{
    const struct known_events *known = &cursor->trace->schema.known;
    set_running(cursor, cursor_teller(cursor, 0));
    if (cursor->running.is_known &&
        (uint32_t)field_integer(known->renamed_tid, cursor->event.bytes) == cursor->running.tid)
        running_name(&cursor->running, known->renamed_name, cursor->event.bytes);
}

/* The count of events behind the last packet, if all of it was walked or can be read. */
static uint64_t find_count(const struct cursor *cursor)
{
    const uint64_t before = cursor->packet.header.events_before;
    uint64_t count;
    bool is_whole;
    if (cursor->packets == 0) {
        count = cursor->has_previous && cursor->reporter != NULL
                    ? count_behind(cursor, cursor->previous_offset, &is_whole)
                    : TRACE_EVENTS_UNKNOWN;
        return count != TRACE_EVENTS_UNKNOWN && is_whole ? count : TRACE_EVENTS_UNKNOWN;
    }
    if (cursor->events == TRACE_EVENTS_UNKNOWN || before == TRACE_EVENTS_UNKNOWN)
        return TRACE_EVENTS_UNKNOWN;
    return before + cursor->events - (cursor->events > 0); /* without the end event */
}

/* The packet must begin with the COUNT that the one before it ended with, or with no smaller one if that was
 * cut or something lies in between. Returns whether events are missing before it. */
static bool check_count(const struct cursor *cursor, uint64_t count)
{
    const struct trace_packet *header = &cursor->packet.header;
    const bool is_next = header->packet_seq_num == cursor->previous_seq + 1 && !cursor->is_broken;
    if (count == TRACE_EVENTS_UNKNOWN || header->events_before == TRACE_EVENTS_UNKNOWN ||
        (is_next ? header->events_before == count : header->events_before >= count))
        return false;
    send_report(cursor, (struct report){.anomaly = ANOMALY_EVENT_COUNT,
                                        .offset = cursor->packet.offset,
                                        .packet_seq = header->packet_seq_num,
                                        .count = header->events_before,
                                        .events = count});
    return true;
}

static void check_event(const struct cursor *cursor, uint64_t at, uint32_t minor, enum anomaly anomaly)
{
    struct event event = {.bytes = cursor->packet.bytes + at};
    if (event_id(&cursor->trace->schema, &event) != TRACE_ID(TRACE_CLASS_TRACE, minor))
        send_report(cursor, (struct report){.anomaly = anomaly,
                                            .offset = cursor->packet.offset + at,
                                            .packet_seq = cursor->packet.header.packet_seq_num});
}

/* A packet's content begins with a context event, unless it is of rows, and ends with an end event; a filler
 * may follow. One without events was judged with its header. */
static void check_ends(const struct cursor *cursor)
{
    const uint64_t first = sizeof(struct trace_packet), end = cursor->packet.content_bytes;
    if (end == first)
        return;
    if (!(cursor->packet.header.flags & TRACE_PACKET_ROWS))
        check_event(cursor, first, TRACE_MINOR_CONTEXT, ANOMALY_CONTEXT);
    check_event(cursor, end - 8, TRACE_MINOR_END, ANOMALY_END);
    if (end < cursor->packet.packet_bytes)
        check_event(cursor, end, TRACE_MINOR_FILLER, ANOMALY_FILLER);
}

static bool next_packet(struct cursor *cursor)
{
    const struct stream *stream = cursor->stream;
    struct packet *packet = &cursor->packet;
    uint64_t count = find_count(cursor);
    if (cursor->at != NULL && !cursor->is_broken && cursor->ticks != packet->header.timestamp_end)
        send_report(cursor, (struct report){.anomaly = ANOMALY_END_TIME,
                                            .offset = packet->offset,
                                            .packet_seq = packet->header.packet_seq_num});
    set_running(cursor, cursor_teller(cursor, 0)); /* before the packet's bytes are replaced */
    cursor->told = 0;
    cursor->running_of = NULL;
    cursor->has_gap = false;
    cursor->was_broken = cursor->is_broken;
    while (cursor->next_packet < stream->size) {
        enum anomaly anomaly =
            stream_packet(cursor->trace, stream, cursor->next_packet, &cursor->buffer, packet);
        if (anomaly != ANOMALY_NONE)
            send_report(cursor, (struct report){.anomaly = anomaly,
                                                .offset = packet->offset,
                                                .packet_seq = packet->header.packet_seq_num});
        if (anomaly_is_fatal(anomaly) || anomaly == ANOMALY_PACKET_TIME) {
            cursor->next_packet = stream_resync(cursor->trace, stream, packet->offset + 8);
            cursor->is_broken = true;
            continue;
        }
        cursor->has_gap = check_count(cursor, count) | !follows(cursor, &packet->header);
        cursor->is_broken = (packet->header.flags & TRACE_PACKET_CUT) != 0;
        report_losses(cursor, &packet->header, packet->offset);
        check_ends(cursor);
        cursor->next_packet = packet->offset + packet->packet_bytes;
        cursor->ticks = packet->header.timestamp_begin;
        cursor->at = packet->bytes + sizeof(struct trace_packet);
        cursor->end = packet->bytes + packet->content_bytes;
        cursor->packets++;
        cursor->events = 0;
        if (cursor->at < cursor->end)
            return true;
        count = packet->header.events_before;
    }
    cursor->at = cursor->end = NULL;
    return false;
}

static void skip_rest(struct cursor *cursor, enum anomaly anomaly)
{
    send_report(cursor, (struct report){.anomaly = anomaly,
                                        .offset = cursor->packet.offset +
                                                  (uint64_t)(cursor->at - cursor->packet.bytes),
                                        .packet_seq = cursor->packet.header.packet_seq_num,
                                        .event_id = event_id(&cursor->trace->schema, &cursor->event)});
    cursor->event.type = NULL;
    cursor->is_broken = true;
    cursor->events = TRACE_EVENTS_UNKNOWN;
    cursor->at = cursor->end;
}

bool cursor_next_slow(struct cursor *cursor)
{
    const struct schema *schema = &cursor->trace->schema;
    for (;;) {
        enum anomaly anomaly;
        if (cursor->at == cursor->end && !next_packet(cursor))
            return false;
        anomaly = event_decode(schema, cursor->at, (size_t)(cursor->end - cursor->at), &cursor->event);
        cursor->ticks += event_head(schema, cursor->at).time - (uint32_t)cursor->ticks;
        if (anomaly == ANOMALY_NONE && cursor->ticks > cursor->packet.header.timestamp_end)
            anomaly = ANOMALY_EVENT_TIME;
        if (anomaly == ANOMALY_NONE)
            break;
        skip_rest(cursor, anomaly);
    }
    cursor->at += cursor->event.words * 8ul;
    cursor->events++;
    cursor_take_role(cursor, cursor->event.type, cursor->event.bytes);
    if (cursor->event.type == cursor->trace->schema.known.renamed)
        rename_running(cursor);
    return true;
}

/* Most events of `check` are passed here: everything is in registers. */
static inline __attribute__((always_inline)) uint64_t skip(struct cursor *cursor,
                                                           const struct fixed_types *skipped,
                                                           uint64_t *before, bool is_big)
{
    const uint8_t *at = cursor->at, *const end = cursor->end;
    const uint64_t latest = cursor->packet.header.timestamp_end;
    uint64_t ticks = cursor->ticks, last = *before, count = 0;
    while (at != end) {
        const struct event_half half = event_half(is_big, event_word(is_big, at));
        const struct event_type *type = skipped->at[half.place];
        const uint64_t next = ticks + (half.time - (uint32_t)ticks);
        if (!fixed_type_fits(type, half, (size_t)(end - at)) || next > latest)
            break;
        last = ticks;
        ticks = next;
        at += type->words * 8ul;
        count++;
    }
    cursor->at = at;
    cursor->ticks = ticks;
    cursor->events += count;
    *before = last;
    return count;
}

uint64_t cursor_skip(struct cursor *cursor, const struct fixed_types *skipped, uint64_t *before)
{
    return cursor->trace->schema.big_endian ? skip(cursor, skipped, before, true)
                                            : skip(cursor, skipped, before, false);
}
