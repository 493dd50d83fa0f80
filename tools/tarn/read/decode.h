/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/read/decode.h - stage "decode": a packet to typed events.
 *
 * event_decode is the one place that trusts a byte of an event: it matches the header against the layout
 * of the metadata before anyone looks at a field, so everything behind it may read fields freely. A cursor
 * walks one stream event by event over all its packets and knows who runs (the context event that opens
 * each packet, then sched_switch). Damage and losses on the way go to a reporter. Next stage: order.h.
 */
#ifndef TARN_DECODE_H
#define TARN_DECODE_H

#include <tools/tarn/read/read.h>

struct event {
    const struct event_type *type;
    const uint8_t *bytes; /* of the header; fields lie at their offsets from here */
    uint32_t words;       /* header included */
    uint32_t time;        /* low half of the clock */
};

/* Something to tell about a stream. TICKS bounds the time of a loss. */
struct report {
    enum anomaly anomaly;
    const struct stream *stream;
    uint64_t offset; /* in the file: of the packet or event */
    uint64_t packet_seq;
    uint64_t count; /* lost packets or events; UINT64_MAX: unknown */
    uint64_t begin, end;
    uint32_t event_id;
};
struct reporter {
    void (*report)(struct reporter *reporter, const struct report *report);
};

/* Who runs on a processor. */
struct running {
    uint32_t pid, tid;
    char comm[TRACE_NAME_BYTES + 1];
    uint8_t comm_length;
    bool is_known;
};

struct cursor {
    const struct trace *trace;
    const struct stream *stream;
    struct reporter *reporter;
    struct event event;     /* the current one */
    uint64_t ticks;         /* its time */
    struct running running; /* who ran when it was logged */
    bool is_switch;         /* it tells who runs from the next one on */
    /* where the walk is */
    const uint8_t *at, *end;
    struct packet packet;
    struct packet_buffer buffer;
    uint64_t next_packet;
    bool has_gap;      /* events may be missing between this packet and the one before */
    bool is_broken;    /* events of the packet before were skipped */
    bool has_previous; /* a packet before this one, and what it said: */
    uint64_t previous_end, previous_discarded, previous_seq;
};

/* Slow path of event_decode: an event that varies in size, or is broken. */
enum anomaly event_check(const struct event *event, size_t left);

/* The event at BYTES, of which the content has LEFT bytes (a multiple of 8, not 0). */
static inline enum anomaly event_decode(const struct schema *schema, const uint8_t *bytes, size_t left,
                                        struct event *event)
{
    uint32_t word = load32(bytes, schema->swap), time = load32(bytes + 4, schema->swap);
    uint32_t id = schema->big_endian ? word >> 10 : word & 0x3fffff;
    uint32_t words = schema->big_endian ? word & 0x3ff : word >> 22;
    const struct event_type *type = schema_event(schema, id);

    *event = (struct event){type, bytes, words, time};
    if (__builtin_expect(type != NULL && words == type->fixed_words && words * 8ul <= left, 1))
        return ANOMALY_NONE;
    return event_check(event, left);
}

static inline uint32_t event_id(const struct schema *schema, const struct event *event)
{
    uint32_t word = load32(event->bytes, schema->swap);

    return schema->big_endian ? word >> 10 : word & 0x3fffff;
}

/* Of a string or text field: its bytes, up to a NUL. */
size_t field_text_length(const struct field *field, const struct event *event);
/* Of a sequence or an array: its elements. */
static inline uint64_t field_count(const struct field *field, const struct event *event)
{
    return field->kind == FIELD_SEQUENCE ? field_integer(field->counter, event->bytes) : field->count;
}

/* What packet AFTER tells about losses since the packet with the given numbers; shared with check. */
void report_losses(struct cursor *cursor, const struct trace_packet *header, uint64_t offset);

/* Tells REPORTER what the packet that CURSOR stands in, and the one before, tell about losses, once more. */
void cursor_report_packet(const struct cursor *cursor, struct reporter *reporter);

/* Starts before the first event at or after FROM (ticks); 0 for the whole stream. */
void cursor_open(struct cursor *cursor, const struct trace *trace, const struct stream *stream, uint64_t from,
                 struct reporter *reporter);
void cursor_close(struct cursor *cursor);

/* A place between two events of a stream, to go on from later. */
struct position {
    uint64_t packet; /* in the file */
    uint64_t event;  /* in the packet: the one that comes next; 0: the packet's first */
};
struct position cursor_position(const struct cursor *cursor); /* before the event that CURSOR stands at */
/* At the event that came next when the position was taken; false: there is none. What was lost before is not
 * reported again. A position that fits no event stands for the next one. */
bool cursor_open_at(struct cursor *cursor, const struct trace *trace, const struct stream *stream,
                    struct position position, struct reporter *reporter);
/* Who runs, as fields of EVENT tell. */
void running_set(struct running *running, const struct event *event, const struct field *pid,
                 const struct field *tid, const struct field *comm);

void cursor_track(struct cursor *cursor); /* after a context or switch event */

/* Slow paths of cursor_next: the next event is the first of a packet, or broken; this one tells who runs. */
bool cursor_next_slow(struct cursor *cursor);
void cursor_take_role(struct cursor *cursor);

/* The next event; false at the end of the stream. */
static inline bool cursor_next(struct cursor *cursor)
{
    uint64_t ticks;

    if (__builtin_expect(cursor->is_switch, 0))
        cursor_track(cursor);
    if (__builtin_expect(cursor->at == cursor->end, 0) ||
        __builtin_expect(event_decode(&cursor->trace->schema, cursor->at, (size_t)(cursor->end - cursor->at),
                                      &cursor->event) != ANOMALY_NONE,
                         0))
        return cursor_next_slow(cursor);
    ticks = cursor->ticks + (cursor->event.time - (uint32_t)cursor->ticks);
    if (__builtin_expect(ticks > cursor->packet.header.timestamp_end, 0))
        return cursor_next_slow(cursor);
    cursor->ticks = ticks;
    cursor->at += cursor->event.words * 8ul;
    if (__builtin_expect(cursor->event.type->role != EVENT_PLAIN, 0))
        cursor_take_role(cursor);
    return true;
}

/* The time of the current event; see schema_ns. */
static inline int64_t cursor_ns(const struct cursor *cursor)
{
    return schema_ns(&cursor->trace->schema, cursor->ticks);
}

#endif
