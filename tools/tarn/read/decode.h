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
};

/* Something to tell about a stream, or about the trace as a whole (judge.h). */
struct report {
    enum anomaly anomaly;
    const struct stream *stream; /* NULL: `oddity` tells, or ANOMALY_UNFINISHED */
    const struct oddity *oddity;
    const struct stream *other; /* ANOMALY_CLOCK: whose clock is behind, by at least `count` ticks */
    uint64_t offset;            /* in the file: of the packet or event */
    uint64_t packet_seq;
    uint64_t count;      /* lost packets or events; UINT64_MAX: unknown */
    uint64_t begin, end; /* ticks: bound the time of a loss */
    uint32_t event_id;
    bool is_either; /* the clock that is ahead may be the other one */
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
    bool is_booting; /* the processor, which has not yet switched: its thread has no name */
};

/* An event that tells who runs: a context from itself on, a switch from the next event on. */
struct teller {
    const struct event_type *type;
    const uint8_t *bytes;
};

#define CURSOR_TELLERS 4u

struct cursor {
    const struct trace *trace;
    const struct stream *stream;
    struct reporter *reporter;
    unsigned rank;      /* the stream's */
    struct event event; /* the current one */
    uint64_t ticks;     /* its time */
    /* Who ran when it was logged: cursor_running. So many events of this packet told so far; the last ones
     * are in a ring, and beside them perhaps one that did not tell. Most who walk do not ask, so `running` is
     * made when they do. */
    struct running running;
    uint32_t told;
    const uint8_t *tellers[CURSOR_TELLERS];
    const uint8_t *running_of; /* from which `running` was made; NULL: from what came before this packet */
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

/* Nothing needs to be looked at but the header: TYPE has one size, this one, and LEFT bytes hold it. */
static inline bool event_is_simple(const struct event_type *type, uint32_t words, size_t left)
{
    return __builtin_expect(type != NULL && words == type->fixed_words && words * 8ul <= left, 1);
}

/* The event at BYTES, of which the content has LEFT bytes (a multiple of 8, not 0). */
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
/* Who runs, as a context or switch event tells. */
void running_set(struct running *running, const struct schema *schema, struct teller teller);
const struct running *cursor_find_running(struct cursor *cursor);

/* The last event of this packet that told who runs, or the one that many BACK from it; NULL: none. */
static inline const uint8_t *cursor_teller(const struct cursor *cursor, uint32_t back)
{
    return cursor->told > back ? cursor->tellers[(cursor->told - 1 - back) % CURSOR_TELLERS] : NULL;
}

/* Who ran when the current event was logged. It is made here, in a cursor that is only read otherwise. */
static inline const struct running *cursor_running(const struct cursor *cursor)
{
    const uint8_t *latest = cursor_teller(cursor, 0);
    bool is_made = cursor->running_of == latest && latest != cursor->event.bytes;

    return is_made ? &cursor->running : cursor_find_running((struct cursor *)cursor);
}

/* Slow path of cursor_next: the next event is the first of a packet, varies in size or is broken. */
bool cursor_next_slow(struct cursor *cursor);

/* Without a branch, for nothing foretells which events tell who runs. */
static inline void cursor_take_role(struct cursor *cursor, const struct event_type *type,
                                    const uint8_t *bytes)
{
    cursor->tellers[cursor->told % CURSOR_TELLERS] = bytes;
    cursor->told += type->role != EVENT_PLAIN;
}

/* The next event, if it is a simple one inside the packet; else nothing has changed. This is run for nearly
 * all events, so it keeps in registers what it can. */
static inline bool cursor_step(struct cursor *cursor)
{
    const struct schema *schema = &cursor->trace->schema;
    const uint8_t *at = cursor->at;
    const struct event_type *type;
    struct event_head head;
    uint64_t ticks;

    if (__builtin_expect(at == cursor->end, 0))
        return false;
    head = event_head(schema, at);
    type = schema_event(schema, head.id);
    ticks = cursor->ticks + (head.time - (uint32_t)cursor->ticks);
    if (!event_is_simple(type, head.words, (size_t)(cursor->end - at)) ||
        __builtin_expect(ticks > cursor->packet.header.timestamp_end, 0))
        return false;
    cursor->event = (struct event){type, at, head.words};
    cursor->ticks = ticks;
    cursor->at = at + head.words * 8ul;
    cursor_take_role(cursor, type, at);
    return true;
}

/* The next event; false at the end of the stream. */
static inline bool cursor_next(struct cursor *cursor)
{
    return __builtin_expect(cursor_step(cursor), 1) || cursor_next_slow(cursor);
}

/* The time of the current event; see schema_ns. */
static inline int64_t cursor_ns(const struct cursor *cursor)
{
    return schema_ns(&cursor->trace->schema, cursor->ticks);
}

#endif
