/*
 * trace/ring/read.h - the reader of a ring: which packets there are, and copying them.
 *
 * Readers and writers never wait for each other: a reader checks, copies, and then checks that the copy was
 * not overwritten meanwhile. It validates everything that it reads from a ring.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <trace/format/era.h>

enum trace_packet_state {
    TRACE_PACKET_WHOLE,      /* closed, every word committed */
    TRACE_PACKET_OPEN,       /* writers are in it, or it does not exist yet */
    TRACE_PACKET_INCOMPLETE, /* closed, but a writer has not committed, and may never */
    /* overwritten, consumed, or never readable: its header is another packet's, or a late writer of an
     * earlier packet may have stored over it */
    TRACE_PACKET_GONE,
};

struct trace_reader {
    const struct trace_info *info;
    const char *ring;
    uint32_t cpu;
    uint64_t latest;        /* no event is later, in ticks; 0: the current time. ~0 for a dead system */
    uint64_t geometry;      /* trace_geometry_word() when the reader began */
    struct trace_eras eras; /* then */
};

static inline struct trace_reader trace_reader_open(const struct trace_info *info, const char *ring,
                                                    uint32_t cpu, uint64_t latest)
{
    struct trace_reader reader = {info, ring, cpu, latest, .geometry = trace_geometry_of(info)};
    trace_eras_load(&reader.eras, trace_control_of(ring), reader.geometry);
    return reader;
}

/* Bytes of packet `number`, as trace_packet_copy() and the other functions write. Sizes may differ. */
static inline uint64_t trace_reader_bytes(const struct trace_reader *reader, uint64_t number)
{
    return trace_eras_words(&reader->eras, number) * 8;
}

static inline uint64_t trace_reader_ring_bytes(const struct trace_reader *reader)
{
    return reader->eras.ring_words * 8;
}

/* False: the rings were cleared or resized since the reader began; if resized, open another one and go on.
 * Covers everything read before the call. */
bool trace_reader_is_current(const struct trace_reader *reader);

/* Number of the packet that is being written; if the ring is full, of the next one. */
uint64_t trace_reader_head(const struct trace_reader *reader);
/* Words reserved for events in the packet that is being written. 0: it has no events, and nothing is lost
 * with it. */
uint64_t trace_open_words(const struct trace_reader *reader);
/* Number of the oldest packet that was not overwritten. */
uint64_t trace_reader_oldest(const struct trace_reader *reader);
/* Number of the oldest packet that lies within `bytes` before packet `number`. */
uint64_t trace_reader_back(const struct trace_reader *reader, uint64_t number, uint64_t bytes);
/* Number of the oldest packet that no consumer has taken; at most the head, which is not closed yet. */
uint64_t trace_reader_tail(const struct trace_reader *reader);
/* Events logged since boot. */
uint64_t trace_reader_events(const struct trace_reader *reader);
/* A word of the control page, by its offset from the ring; later loads return nothing older. */
uint64_t trace_reader_load(const struct trace_reader *reader, uint64_t offset);
/* Events logged before packet `number`, which is in the ring or comes next; else TRACE_EVENTS_UNKNOWN. */
uint64_t trace_reader_events_before(const struct trace_reader *reader, uint64_t number);

/* The place of packet `number`; another packet may have its buffer. */
const struct trace_packet *trace_packet_at(const struct trace_reader *reader, uint64_t number);
enum trace_packet_state trace_packet_state(const struct trace_reader *reader, uint64_t number);
/* Copies packet `number`, trace_reader_bytes(), to `copy`. WHOLE: the copy is valid. INCOMPLETE: try again;
 * after waiting long enough call trace_packet_cut. Otherwise `copy` is useless. */
enum trace_packet_state trace_packet_copy(const struct trace_reader *reader, uint64_t number, void *copy);
/* Makes an incomplete copy readable: ends the content before the first event that was not written, and sets
 * TRACE_PACKET_CUT. False: not even header and context are there. */
bool trace_packet_cut(const struct trace_reader *reader, uint64_t number, void *copy);

/* Copies the written part of the open packet, and closes the copy with an end event and a filler: for readers
 * that cannot flush, for example because the next buffer is not free. Cuts uncertain events. False: no
 * packet is open, it is empty, or a late writer may have stored over it. */
bool trace_packet_snapshot(const struct trace_reader *reader, void *copy);

/* For rings of a dead system, where no writer is left and the control page is only a hint. Sets the range of
 * possible packets, [*first, *last], the last one perhaps open; false: there are none. */
bool trace_salvage_range(const struct trace_reader *reader, uint64_t *first, uint64_t *last);
/* Events that found no free buffer; 0 if the control page is not plausible. */
uint64_t trace_salvage_discarded(const struct trace_reader *reader);
/* Copies the valid part of packet `number`, closed or open, and makes it whole; sets TRACE_PACKET_CUT if
 * something is missing. False: nothing is valid. */
bool trace_packet_salvage(const struct trace_reader *reader, uint64_t number, void *copy);

/* Walks the events of a copy. Begin with trace_walk_begin; each trace_walk_next returns the next event and
 * sets its full time. NULL: the content ends, or no event follows (`broken`). */
struct trace_walk {
    const char *packet;
    uint64_t position, limit; /* words */
    uint64_t time;            /* of the last event */
    uint64_t end;             /* no event is later; ~0: unknown */
    bool broken;
};
void trace_walk_begin(struct trace_walk *walk, const void *packet, uint64_t words, uint64_t end);
const struct trace_header *trace_walk_next(struct trace_walk *walk);

static inline struct trace_walk trace_walk_of(const void *packet, uint64_t begin, uint64_t words,
                                              uint64_t end)
{
    return (struct trace_walk){
        .packet = packet, .position = TRACE_PACKET_WORDS, .limit = words, .time = begin, .end = end};
}

/* One step of a walk, to the event with this header. False: it is none. A hole holds an event of an earlier
 * lap, or nothing: its time lies outside the packet's, relative to the event before it. */
static inline bool trace_walk_take(struct trace_walk *walk, struct trace_header event)
{
    const uint32_t step = event.timestamp - (uint32_t)walk->time;
    const bool is_filler = event.id == TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_FILLER);
    const bool fits = event.length && walk->position + event.length <= walk->limit;
    const bool in_time = walk->end == ~0ull ? step <= 1u << 31 : step <= walk->end - walk->time;
    if (!event.id || is_filler || !fits || !in_time) {
        walk->broken = true;
        return false;
    }
    walk->position += event.length;
    walk->time += step;
    return true;
}
