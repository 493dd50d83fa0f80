/*
 * trace/ring/read_rules.h - how any reader finds, checks, copies and cuts the packets of a ring.
 *
 * One source for readers of mapped rings (read.c: kernel, servers, programs) and of a guest's memory
 * (tools/tarn/source/guest_ring.c: maybe remote, maybe of the other byte order). Each includes this file
 * once, after the typedef RING of its type of a ring, which has members `eras` and `cpu`, and macros that
 * give public functions its own names. It defines the functions declared first.
 *
 * A packet is whole if
 *   1. the index has left the buffer, or says that it is closed: the packet is closed or being closed;
 *   2. packet_seq_num is the requested number: its header was written, so (change_buffer) `committed` no
 *      longer has an earlier lap's count;
 *   3. `committed` is the whole buffer: header, events, end and filler are there, and no writer of an earlier
 *      lap can still store over them (layout.h, TRACE_UNCOMMITTED_MARK).
 *
 * After the copy the reader checks again. The copy is useless if the index has come round to this buffer, if
 * the count has changed (a very late writer), or if the rings were cleared or resized meanwhile.
 */
#pragma once

#include <stddef.h>
#include <trace/ring/read.h>

/* The schema's, as in every packet of the ring. */
static const uint8_t *ring_uuid(const RING *ring);
/* Whether the writers have the other byte order. */
static bool ring_swaps(const RING *ring);
/* Loads the word at byte `offset` of the ring, in the reader's order. Acquire: later loads return nothing
 * older. 0 if it cannot be read. */
uint64_t ring_load(RING *ring, uint64_t offset);
/* Copies the first `words` of the buffer of packet `number`, in bulk and in the writers' order. Leaves out
 * what cannot be read. */
static void ring_copy(RING *ring, uint64_t number, uint64_t *to, uint64_t words);
/* The index, acquire; the packet that it says is being written, as far as the reader believes it. */
static uint64_t ring_index(RING *ring);
uint64_t ring_head(RING *ring);
/* No event of packet `number` is later. A time in the far future, if accepted, would make all later packets
 * appear to go backwards. ~0: unknown. */
static uint64_t ring_latest(RING *ring, uint64_t number);
/* Whether writers may be at work. */
static bool ring_is_live(const RING *ring);
/* False: the rings were cleared or resized, or could not be read. Covers everything read before the call. */
bool ring_is_current(RING *ring);
/* Public functions: see read.h. */
enum trace_packet_state ring_packet_state(RING *ring, uint64_t number);
bool ring_packet_salvage(RING *ring, uint64_t number, void *copy);

/* ---- headers -------------------------------------------------------------------------------------- */

static uint64_t ring_64(const RING *ring, uint64_t value)
{
    return ring_swaps(ring) ? __builtin_bswap64(value) : value;
}

static bool ring_is_little(const RING *ring)
{
    return (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) != ring_swaps(ring);
}

/* 64-bit words of a buffer, now, and of that packet. */
static uint64_t ring_buffer_words(const RING *ring)
{
    return ring->eras.era[0].words;
}

static uint64_t ring_packet_words(const RING *ring, uint64_t number)
{
    return trace_eras_words(&ring->eras, number);
}

static uint64_t ring_packet_offset(const RING *ring, uint64_t number)
{
    return TRACE_BUFFERS_OFFSET + trace_eras_place(&ring->eras, trace_eras_start(&ring->eras, number));
}

static uint64_t ring_newest(const RING *ring, uint64_t index)
{
    return trace_eras_newest(&ring->eras, index);
}

static struct trace_packet get_header(const RING *ring, const uint64_t *copy)
{
    struct trace_packet packet;
    __builtin_memcpy(&packet, copy, sizeof(packet));
    if (ring_swaps(ring))
        trace_swap(&packet, TRACE_PACKET_LAYOUT);
    return packet;
}

static void put_header(const RING *ring, uint64_t *copy, const struct trace_packet *packet)
{
    __builtin_memcpy(copy, packet, sizeof(*packet));
    if (ring_swaps(ring))
        trace_swap(copy, TRACE_PACKET_LAYOUT);
}

/* Whether a packet's header is as FORMAT.md specifies; false if a program has overwritten it. */
static bool header_is_sound(const RING *ring, uint64_t number, const struct trace_packet *packet,
                            uint64_t latest)
{
    for (unsigned i = 0; i < sizeof(packet->uuid); i++)
        if (packet->uuid[i] != ring_uuid(ring)[i])
            return false;
    return packet->magic == TRACE_CTF_MAGIC && packet->stream_id == TRACE_STREAM_ID &&
           packet->packet_size == ring_packet_words(ring, number) * 64 && packet->packet_seq_num == number &&
           packet->cpu_id == ring->cpu && packet->timestamp_begin <= latest;
}

static bool content_is_sound(const struct trace_packet *packet, uint64_t latest)
{
    return packet->content_size <= packet->packet_size && packet->content_size % 64 == 0 &&
           packet->content_size >= (TRACE_PACKET_WORDS + TRACE_CONTEXT_WORDS) * 64 &&
           packet->timestamp_begin <= packet->timestamp_end && packet->timestamp_end <= latest;
}

/* Reads the current header of the buffer of packet `number`; a new one may be being written. False: it is not
 * this packet's. */
static bool ring_read_header(RING *ring, uint64_t number, struct trace_packet *packet)
{
    uint64_t words[TRACE_PACKET_WORDS] = {0};
    ring_copy(ring, number, words, TRACE_PACKET_WORDS);
    *packet = get_header(ring, words);
    return header_is_sound(ring, number, packet, ~0ull);
}

static bool ring_holds(RING *ring, uint64_t number)
{
    struct trace_packet packet;
    return ring_read_header(ring, number, &packet);
}

/* Whether the index belongs to these packets. A writer takes a buffer shortly before it writes the header, so
 * the previous packet is good enough. */
static bool ring_leads_to_packet(RING *ring, uint64_t index)
{
    const uint64_t newest = ring_newest(ring, index);
    return ring_holds(ring, newest) || (newest > 0 && ring_holds(ring, newest - 1));
}

/* ---- states --------------------------------------------------------------------------------------- */

/* Whether the index has come round to the buffer of this packet. */
static bool is_overwritten(RING *ring, uint64_t number)
{
    return trace_eras_has_lost(&ring->eras, ring_index(ring), number);
}

/* The events before packet `number`, or, if the ring is full, before the packet that comes next. */
uint64_t ring_events_before(RING *ring, uint64_t number)
{
    struct trace_packet packet;
    const bool is_there = ring_read_header(ring, number, &packet);
    /* the header before the check: pairs with fence 1 of cas.h, as in ring_packet_copy() */
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (is_there && !is_overwritten(ring, number))
        return packet.events_before;
    const uint64_t index = ring_index(ring);
    if (!(index & TRACE_INDEX_CLOSED) || trace_eras_head(&ring->eras, index) != number)
        return TRACE_EVENTS_UNKNOWN;
    return trace_index_events(index, ring_load(ring, TRACE_CONTROL_AT(events)));
}

static uint64_t ring_committed(RING *ring, uint64_t number)
{
    return ring_load(ring, ring_packet_offset(ring, number) + offsetof(struct trace_packet, committed));
}

enum trace_packet_state ring_packet_state(RING *ring, uint64_t number)
{
    if (ring_head(ring) <= number)
        return TRACE_PACKET_OPEN;
    if (is_overwritten(ring, number))
        return TRACE_PACKET_GONE;
    /* Acquire of the number: pairs with the release in open_packet(); an earlier lap's count is removed.
     * Acquire of the count: pairs with release 3 of cas.h; what was committed is visible. */
    if (ring_load(ring, ring_packet_offset(ring, number) + offsetof(struct trace_packet, packet_seq_num)) !=
        number)
        return TRACE_PACKET_INCOMPLETE;
    const uint64_t committed = ring_committed(ring, number);
    if (trace_in_doubt(committed))
        return TRACE_PACKET_GONE;
    return committed == ring_packet_words(ring, number) ? TRACE_PACKET_WHOLE : TRACE_PACKET_INCOMPLETE;
}

/* ---- copying -------------------------------------------------------------------------------------- */

static bool ring_walk_next(const RING *ring, struct trace_walk *walk, struct trace_header *event)
{
    if (walk->position >= walk->limit)
        return false;
    const uint64_t word = ((const uint64_t *)walk->packet)[walk->position];
    *event = trace_header_of(ring_is_little(ring), ring_64(ring, word));
    return trace_walk_take(walk, *event);
}

/* The first word of a copy where no event was found. An old event may seem to be later than the one before
 * it, by chance. Then the walk breaks behind it, at a new event that seems to be earlier, and could go on
 * from before the old one. */
static uint64_t find_hole(const RING *ring, const uint64_t *copy, uint64_t limit, uint64_t latest)
{
    const struct trace_packet packet = get_header(ring, copy);
    const uint64_t end = content_is_sound(&packet, latest) ? packet.timestamp_end : ~0ull;
    struct trace_walk walk = trace_walk_of(copy, packet.timestamp_begin, limit, end), last = walk;
    struct trace_header event;
    for (struct trace_walk here = walk; ring_walk_next(ring, &walk, &event); here = walk)
        last = here;
    struct trace_walk without_last = walk;
    without_last.time = last.time;
    return walk.broken && ring_walk_next(ring, &without_last, &event) ? last.position : walk.position;
}

/* Copies `words` of a packet that is not completely committed, and sets the first word without a complete
 * event to 0. Reads the headers first: a copy made afterwards holds the complete data of all events found
 * (fence 2 of cas.h); events written in between might be copied partly. */
static void copy_with_hole(RING *ring, uint64_t number, uint64_t *copy, uint64_t words, uint64_t latest)
{
    ring_copy(ring, number, copy, words);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    const uint64_t hole = find_hole(ring, copy, words, latest);
    if (ring_is_live(ring))
        ring_copy(ring, number, copy, words);
    if (hole < words)
        copy[hole] = 0;
}

enum trace_packet_state ring_packet_copy(RING *ring, uint64_t number, void *copy)
{
    const enum trace_packet_state state = ring_packet_state(ring, number);
    const bool is_whole = state == TRACE_PACKET_WHOLE;
    const uint64_t words = ring_packet_words(ring, number);
    if (!is_whole && state != TRACE_PACKET_INCOMPLETE)
        return state;
    const uint64_t latest = ring_latest(ring, number);
    if (is_whole)
        ring_copy(ring, number, copy, words);
    else
        copy_with_hole(ring, number, copy, words, latest);
    /* the copy before the second check of the index: pairs with fence 1 of cas.h, and with
     * the announcement in restart.c */
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (is_overwritten(ring, number) || !ring_is_current(ring))
        return TRACE_PACKET_GONE;
    const uint64_t committed = ring_committed(ring, number);
    if (trace_in_doubt(committed) || (is_whole && committed != words))
        return TRACE_PACKET_GONE;
    const struct trace_packet packet = get_header(ring, copy);
    if (is_whole && !(header_is_sound(ring, number, &packet, latest) && content_is_sound(&packet, latest)))
        return TRACE_PACKET_INCOMPLETE;
    return state;
}

/* ---- cutting -------------------------------------------------------------------------------------- */

/* Where a packet's content may end. */
struct cut {
    uint64_t position, time;
};

/* Ends the content of a copy there: an end event, then a filler up to the buffer's end. */
static void end_content(const RING *ring, uint64_t *copy, struct trace_packet *packet, struct cut at)
{
    const uint64_t rest = packet->packet_size / 64 - at.position - 1;
    const bool is_little = ring_is_little(ring);
    copy[at.position] = ring_64(ring, trace_end_word(is_little, at.time));
    if (rest)
        copy[at.position + 1] = ring_64(ring, trace_filler_word(is_little, rest, at.time));
    packet->timestamp_end = at.time;
    packet->content_size = (at.position + 1) * 64;
    packet->committed = packet->packet_size / 64; /* what was missing is not in it any more */
}

/* No event is broken, but `missing` words of what was walked were not committed. Either all is written and
 * not yet counted, or there is an old event where one is missing. An old event's time rarely lies between its
 * neighbours' by chance, but the last event has no neighbour after it. If its length equals the missing
 * words, it is the one being written, and is cut; otherwise cut all. */
static struct cut choose_cut(uint64_t missing, struct cut context, struct cut before_last, struct cut last)
{
    if (missing == 0)
        return last;
    return last.position - before_last.position == missing ? before_last : context;
}

/* Walks a copy whose header is sound up to `limit`; ends its content before the first hole. No event is later
 * than `end` (~0: unknown). `committed`: words of the packet known to be written. */
static bool cut_content(const RING *ring, uint64_t *copy, struct trace_packet *packet, uint64_t limit,
                        uint64_t end, uint64_t committed)
{
    struct trace_walk walk = trace_walk_of(copy, packet->timestamp_begin, limit, end);
    struct trace_header event;
    bool is_closed = false;
    if (!ring_walk_next(ring, &walk, &event) ||
        event.id != TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_CONTEXT) || event.length != TRACE_CONTEXT_WORDS)
        return false;
    const struct cut context = {walk.position, walk.time};
    const uint64_t size = packet->packet_size / 64;
    struct cut before_last = context, last = context;
    while (ring_walk_next(ring, &walk, &event)) {
        is_closed = event.id == TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_END);
        if (is_closed)
            break;
        before_last = last;
        last = (struct cut){walk.position, walk.time};
    }
    if (is_closed || (!walk.broken && committed > last.position))
        before_last = last; /* the packet is closed: what is missing may be anywhere */
    if (committed ==
        TRACE_IN_ORDER) /* the index is unknown: all that looks like an event of this packet is */
        committed = is_closed ? size : last.position;
    const uint64_t missing = (is_closed ? size : last.position) - committed;
    if (walk.broken || missing)
        packet->flags |= TRACE_PACKET_CUT;
    end_content(ring, copy, packet, walk.broken ? last : choose_cut(missing, context, before_last, last));
    put_header(ring, copy, packet);
    return true;
}

bool ring_packet_cut(RING *ring, uint64_t number, void *copy)
{
    struct trace_packet packet = get_header(ring, copy);
    const uint64_t latest = ring_latest(ring, number);
    if (!header_is_sound(ring, number, &packet, latest))
        return false;
    /* The closer writes the packet's end; use it if it did. */
    const uint64_t end = content_is_sound(&packet, latest) ? packet.timestamp_end : ~0ull;
    /* leaves one word for the end event */
    return cut_content(ring, copy, &packet, ring_packet_words(ring, number) - 1, end, packet.committed) &&
           content_is_sound(&packet, latest);
}

/* Whether the index is behind the header and the context event of this packet. */
static bool is_begun(const RING *ring, uint64_t number, uint64_t index)
{
    return ring_newest(ring, index) == number &&
           trace_index_open_words(index, ring_buffer_words(ring)) >= TRACE_PACKET_WORDS + TRACE_CONTEXT_WORDS;
}

static bool ring_packet_snapshot(RING *ring, uint64_t number, uint64_t *copy)
{
    const uint64_t size = ring_buffer_words(ring);
    if (!is_begun(ring, number, ring_index(ring)))
        return false; /* the buffer's count may be an earlier packet's */
    /* Acquire: pairs with release 3 of cas.h, of the commits that it counts. The index after the count: if
     * they agree, all writers have committed. In order: everything below the index is (restart.h), also when
     * the packet has just been closed and the index not yet moved. */
    const uint64_t counted = ring_committed(ring, number);
    const uint64_t index = ring_index(ring), limit = trace_index_open_words(index, size);
    const uint64_t committed = counted == TRACE_IN_ORDER || counted == size ? limit : counted;
    const uint64_t latest = ring_latest(ring, number);
    if (!is_begun(ring, number, index))
        return false;
    if (committed == limit)
        ring_copy(ring, number, copy, limit);
    else
        copy_with_hole(ring, number, copy, limit, latest);
    /* the copy before another check of the index: pairs with fence 1 of cas.h, as in ring_packet_copy() */
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (trace_eras_head(&ring->eras, ring_index(ring)) != number || trace_in_doubt(committed) ||
        trace_in_doubt(ring_committed(ring, number)) || !ring_is_current(ring))
        return false;
    struct trace_packet packet = get_header(ring, copy);
    if (!header_is_sound(ring, number, &packet, latest))
        return false;
    /* Without a hole every word below the limit is an event. Two may lie 2^31 ticks apart: of a CPU that its
     * host did not run. */
    return cut_content(ring, copy, &packet, limit, committed == limit ? ~1ull : ~0ull, committed);
}

bool ring_packet_salvage(RING *ring, uint64_t number, void *copy)
{
    const uint64_t words = ring_packet_words(ring, number), latest = ring_latest(ring, number);
    if (!ring_holds(ring, number))
        return false;
    if (ring_head(ring) == number && ring_packet_snapshot(ring, number, copy))
        return true;
    ring_copy(ring, number, copy, words);
    const struct trace_packet packet = get_header(ring, copy);
    if (trace_in_doubt(packet.committed) || !ring_is_current(ring))
        return false;
    if (packet.committed == words && content_is_sound(&packet, latest))
        return true;
    copy_with_hole(ring, number, copy, words, latest);
    return ring_packet_cut(ring, number, copy);
}
