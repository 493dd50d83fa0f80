/*
 * decode.h - stage "decode": a packet to typed events.
 *
 * event_decode validates an event, so all later code may read fields without checks. A cursor walks one
 * stream event by event, knows the running thread, and sends damage and losses to a reporter. Next stage:
 * order.h.
 */
#pragma once

#include <tools/tarn/read/read.h>

struct event {
    const struct event_type *type;
    const uint8_t *bytes; /* at the header; field offsets count from here */
    uint32_t words;       /* includes the header */
};

struct reporter {
    void (*report)(struct reporter *reporter, const struct report *report);
};

struct running {
    uint32_t pid, tid;
    char comm[TRACE_NAME_BYTES + 1];
    uint8_t comm_length;
    bool is_known;
    bool is_booting; /* the CPU has not switched yet: its thread has no name */
};

#define CURSOR_TELLERS 4u

struct cursor {
    const struct trace *trace;
    const struct stream *stream;
    struct reporter *reporter;
    unsigned rank; /* of the stream */
    struct event event;
    uint64_t ticks; /* time of `event` */
    /* The running thread (cursor_running) is computed on demand, because most walkers never ask. `tellers`
     * is a ring of the last `told` events of this packet that named it; the slot after them may hold one
     * event that did not. */
    struct running running;
    uint32_t told;
    const uint8_t *tellers[CURSOR_TELLERS];
    const uint8_t *running_of; /* the event from which `running` was computed; NULL: the packet before */
    /* the position */
    const uint8_t *at, *end;
    struct packet packet;
    struct packet_buffer buffer;
    uint64_t next_packet;
    uint64_t packets;  /* read so far */
    uint64_t events;   /* of this packet so far; at its end, TRACE_EVENTS_UNKNOWN if some were skipped */
    bool has_gap;      /* events may be missing between this packet and the one before */
    bool is_broken;    /* events of the previous packet were skipped */
    bool was_broken;   /* is_broken, when this packet was read */
    bool has_previous; /* there was a previous packet, with these values: */
    uint64_t previous_end, previous_discarded, previous_seq, previous_offset, previous_events_before;
};

/* Slow path of event_decode: the event varies in size, or is damaged. */
enum anomaly event_check(const struct event *event, size_t left);

/* Whether TYPE has a fixed size, which is WORDS, and LEFT
 * bytes hold it. Then only the header needs checking. */
static inline bool event_is_simple(const struct event_type *type, uint32_t words, size_t left)
{
    return __builtin_expect(type != NULL && words == type->fixed_words && words * 8ul <= left, 1);
}

/* Decodes the event at BYTES. LEFT is the rest of the content in bytes, a multiple of 8 and not 0. */
static inline enum anomaly event_decode(const struct schema *schema, const uint8_t *bytes, size_t left,
                                        struct event *event)
{
    struct event_head head = event_head(schema, bytes);
    const struct event_type *type = schema_event(schema, head.id);
    *event = (struct event){type, bytes, head.words};
    return event_is_simple(type, head.words, left) ? ANOMALY_NONE : event_check(event, left);
}

static inline uint32_t event_id(const struct schema *schema, const struct event *event)
{
    return event_head(schema, event->bytes).id;
}

size_t field_text_length(const struct field *field, const struct event *event);
static inline uint64_t field_count(const struct field *field, const struct event *event)
{
    return field->kind == FIELD_SEQUENCE ? field_integer(field->counter, event->bytes) : field->count;
}

/* Reports the losses before the packet with HEADER; also for readers of headers. */
void report_losses(struct cursor *cursor, const struct trace_packet *header, uint64_t offset);

/* Reports the losses before CURSOR's current packet again, to REPORTER. */
void cursor_report_packet(const struct cursor *cursor, struct reporter *reporter);

/* Opens CURSOR before the first event at or after FROM (ticks; 0: the start of the stream). */
void cursor_open(struct cursor *cursor, const struct trace *trace, const struct stream *stream, uint64_t from,
                 struct reporter *reporter);
void cursor_close(struct cursor *cursor);

struct position {
    uint64_t packet; /* offset in the file */
    uint64_t event;  /* offset of the next event in the packet; 0: the first event */
};
struct position cursor_position(const struct cursor *cursor); /* before CURSOR's current event */
/* Opens CURSOR at the event after POSITION; false at the end of the stream. Earlier losses are not reported
 * again. A position inside an event means the next event. */
bool cursor_open_at(struct cursor *cursor, const struct trace *trace, const struct stream *stream,
                    struct position position, struct reporter *reporter);
const struct running *cursor_find_running(struct cursor *cursor);

/* Returns the last event of this packet that named the
 * running thread, or the one BACK before it; NULL: none. */
static inline const uint8_t *cursor_teller(const struct cursor *cursor, uint32_t back)
{
    return cursor->told > back ? cursor->tellers[(cursor->told - 1 - back) % CURSOR_TELLERS] : NULL;
}

/* Returns the thread that ran when the current event was logged. Fills a cache in CURSOR, hence the cast. */
static inline const struct running *cursor_running(const struct cursor *cursor)
{
    const uint8_t *latest = cursor_teller(cursor, 0);
    bool is_made = cursor->running_of == latest && latest != cursor->event.bytes;
    return is_made ? &cursor->running : cursor_find_running((struct cursor *)cursor);
}

/* Slow path of cursor_next: the next event opens a packet, varies in size or is damaged. */
bool cursor_next_slow(struct cursor *cursor);

/* Branchless: which events name the running thread is unpredictable. */
static inline void cursor_take_role(struct cursor *cursor, const struct event_type *type,
                                    const uint8_t *bytes)
{
    cursor->tellers[cursor->told % CURSOR_TELLERS] = bytes;
    cursor->told += type->role > EVENT_CHANGE;
}

/* Moves to the next event if it is simple and in the same packet; otherwise changes nothing. Nearly all
 * events take this path. */
static inline bool cursor_step(struct cursor *cursor)
{
    const struct schema *schema = &cursor->trace->schema;
    const uint8_t *at = cursor->at;
    const struct event_type *type;
    struct event_half half;
    uint64_t ticks;
    if (__builtin_expect(at == cursor->end, 0))
        return false;
    half = event_half(schema->big_endian, event_word(schema->big_endian, at));
    type = schema->fixed.at[half.place];
    ticks = cursor->ticks + (half.time - (uint32_t)cursor->ticks);
    if (!fixed_type_fits(type, half, (size_t)(cursor->end - at)) ||
        __builtin_expect(ticks > cursor->packet.header.timestamp_end, 0))
        return false;
    cursor->event = (struct event){type, at, type->words};
    cursor->ticks = ticks;
    cursor->at = at + type->words * 8ul;
    cursor->events++;
    cursor_take_role(cursor, type, at);
    return true;
}

/* Moves to the next event; false at the end of the stream. */
static inline bool cursor_next(struct cursor *cursor)
{
    return __builtin_expect(cursor_step(cursor), 1) || cursor_next_slow(cursor);
}

/* Moves over events of the types in SKIPPED in this packet; returns their number. `event` stays as it was.
 * With any, *BEFORE is the time of the last but one, the current one included. */
uint64_t cursor_skip(struct cursor *cursor, const struct fixed_types *skipped, uint64_t *before);

/* Behind the last event of a stream: the time up to which its closing packet reports a loss. 0: none, or not
 * at the end. */
static inline uint64_t cursor_lost_until(const struct cursor *cursor)
{
    const struct trace_packet *header = &cursor->packet.header;
    bool is_closed = cursor->at == NULL && !cursor->is_broken && (header->flags & TRACE_PACKET_CLOSING) != 0;
    return is_closed ? header->timestamp_end : 0;
}

/* See schema_ns. */
static inline int64_t cursor_ns(const struct cursor *cursor)
{
    return schema_ns(&cursor->trace->schema, cursor->ticks);
}
