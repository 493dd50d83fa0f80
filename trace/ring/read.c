/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/ring/read.c - finds, checks, copies and cuts packets; see read.h.
 *
 * A packet is whole if (ring.c and reserve_cas.h are the writers' side)
 *   1. the index has left the buffer, or says that it is closed: the packet is closed or being closed;
 *   2. packet_seq_num is the requested number: its header was written, so (change_buffer) `committed` no
 *      longer has an earlier lap's count;
 *   3. `committed` is the whole buffer: header, events, end and filler are there, and no writer of an earlier
 *      lap can still store over them (layout.h, TRACE_UNCOMMITTED_MARK).
 *
 * After the copy the reader checks again. The copy is useless if the index has come round to this buffer, if
 * the count has changed (a very late writer), or if the rings were cleared or resized meanwhile.
 *
 * All sizes come from the reader's own geometry, never from the info page. So each access lies in the ring
 * and each copy fits, whatever changes meanwhile and whatever a program writes into a window.
 */
#include <trace/ring/read.h>
#include <trace/ring/ring.h>

static uint64_t buffer_words(const struct trace_reader *reader)
{
    return trace_geometry_words(reader->geometry);
}

static const struct trace_control *control_of(const struct trace_reader *reader)
{
    return (const struct trace_control *)reader->window;
}

const struct trace_packet *trace_packet_at(const struct trace_reader *reader, uint64_t number)
{
    uint64_t place = (number & (trace_reader_buffers(reader) - 1)) * trace_reader_bytes(reader);
    return (const struct trace_packet *)(reader->window + TRACE_BUFFERS_OFFSET + place);
}

bool trace_reader_is_current(const struct trace_reader *reader)
{
    /* orders what was read before the geometry: pairs with the fence in start_over() */
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&reader->info->geometry, __ATOMIC_RELAXED) == reader->geometry;
}

/* Acquire: what is read of packets afterwards is not older than this index. */
static uint64_t index_of(const struct trace_reader *reader)
{
    return __atomic_load_n(&control_of(reader)->index, __ATOMIC_ACQUIRE);
}

uint64_t trace_reader_head(const struct trace_reader *reader)
{
    return trace_index_head(index_of(reader), buffer_words(reader));
}

uint64_t trace_open_words(const struct trace_reader *reader)
{
    const uint64_t used = trace_index_open_words(index_of(reader), buffer_words(reader));
    const uint64_t first = TRACE_PACKET_WORDS + TRACE_CONTEXT_WORDS;
    return used > first ? used - first : 0;
}

uint64_t trace_reader_oldest(const struct trace_reader *reader)
{
    return trace_index_oldest(index_of(reader), buffer_words(reader), trace_reader_buffers(reader));
}

uint64_t trace_reader_tail(const struct trace_reader *reader)
{
    const uint64_t oldest = trace_reader_oldest(reader);
    const uint64_t consumed = __atomic_load_n(&reader->info->consumed[reader->cpu], __ATOMIC_RELAXED);
    return consumed > oldest ? consumed : oldest;
}

uint64_t trace_reader_discarded(const struct trace_reader *reader)
{
    return __atomic_load_n(&control_of(reader)->discarded, __ATOMIC_RELAXED);
}

uint64_t trace_reader_torn(const struct trace_reader *reader)
{
    return __atomic_load_n(&control_of(reader)->torn, __ATOMIC_RELAXED);
}

/* Whether the index has come round to the buffer of this packet. */
static bool is_overwritten(const struct trace_reader *reader, uint64_t number)
{
    const uint64_t newest = trace_index_newest(index_of(reader), buffer_words(reader));
    return newest >= number && newest - number >= trace_reader_buffers(reader);
}

enum trace_packet_state trace_packet_state(const struct trace_reader *reader, uint64_t number)
{
    if (trace_reader_head(reader) <= number)
        return TRACE_PACKET_OPEN;
    if (is_overwritten(reader, number))
        return TRACE_PACKET_GONE;
    const struct trace_packet *packet = trace_packet_at(reader, number);
    /* Acquire of the number: pairs with the release in open_packet(); an earlier lap's count is removed.
     * Acquire of the count: pairs with release 3 of reserve_cas.h; what was committed is visible. */
    if (__atomic_load_n(&packet->packet_seq_num, __ATOMIC_ACQUIRE) != number)
        return TRACE_PACKET_INCOMPLETE;
    const uint64_t committed = __atomic_load_n(&packet->committed, __ATOMIC_ACQUIRE);
    if (trace_in_doubt(committed))
        return TRACE_PACKET_GONE;
    return committed == buffer_words(reader) ? TRACE_PACKET_WHOLE : TRACE_PACKET_INCOMPLETE;
}

/* No event is later. The CPUs' clocks may differ a little. A time in the far future, if accepted, would make
 * all later packets appear to go backwards. */
static uint64_t latest_time(const struct trace_reader *reader)
{
    return reader->latest ? reader->latest : arch_trace_clock() + TRACE_TIME_SPAN;
}

/* Whether a packet's header is as FORMAT.md specifies; false if a program has overwritten it. */
static bool header_is_sound(const struct trace_reader *reader, uint64_t number,
                            const struct trace_packet *packet)
{
    for (unsigned i = 0; i < sizeof(packet->uuid); i++)
        if (packet->uuid[i] != reader->info->uuid[i])
            return false;
    return packet->magic == TRACE_CTF_MAGIC && packet->stream_id == TRACE_STREAM_ID &&
           packet->packet_size == buffer_words(reader) * 64 && packet->packet_seq_num == number &&
           packet->cpu_id == reader->cpu && packet->timestamp_begin <= latest_time(reader);
}

static bool content_is_sound(const struct trace_reader *reader, const struct trace_packet *packet)
{
    return packet->content_size <= packet->packet_size && packet->content_size % 64 == 0 &&
           packet->content_size >= (TRACE_PACKET_WORDS + TRACE_CONTEXT_WORDS) * 64 &&
           packet->timestamp_begin <= packet->timestamp_end && packet->timestamp_end <= latest_time(reader);
}

static uint64_t count_of(const struct trace_packet *packet)
{
    return __atomic_load_n(&packet->committed, __ATOMIC_RELAXED);
}

/* The first word of a packet in the ring where no event was found. A copy made afterwards holds the complete
 * data of all events before it; events written in between might be copied partly. */
static uint64_t find_hole(const struct trace_reader *reader, const struct trace_packet *packet,
                          uint64_t limit)
{
    struct trace_walk walk;
    trace_walk_begin(&walk, packet, limit, content_is_sound(reader, packet) ? packet->timestamp_end : ~0ull);
    while (trace_walk_next(&walk))
        ;
    return walk.position;
}

enum trace_packet_state trace_packet_copy(const struct trace_reader *reader, uint64_t number, void *copy)
{
    enum trace_packet_state state = trace_packet_state(reader, number);
    if (state != TRACE_PACKET_WHOLE && state != TRACE_PACKET_INCOMPLETE)
        return state;
    const struct trace_packet *original = trace_packet_at(reader, number);
    const volatile uint64_t *from = (const volatile uint64_t *)original;
    uint64_t *to = copy;
    uint64_t words = buffer_words(reader); /* a multiple of eight */
    const uint64_t hole = state == TRACE_PACKET_WHOLE ? words : find_hole(reader, original, words);
    for (uint64_t i = 0; i < words; i += 8, to += 8, from += 8) {
        /* unrolled: this loop is a third of what a pull costs the guest */
        to[0] = from[0], to[1] = from[1], to[2] = from[2], to[3] = from[3];
        to[4] = from[4], to[5] = from[5], to[6] = from[6], to[7] = from[7];
    }
    TRACE_TEST_POINT(TRACE_AFTER_COPY);
    /* the copy before the second check of the index: pairs with fence 1 of reserve_cas.h */
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (is_overwritten(reader, number) || !trace_reader_is_current(reader) ||
        (state == TRACE_PACKET_WHOLE && count_of(original) != words) || trace_in_doubt(count_of(original)))
        return TRACE_PACKET_GONE;
    if (hole < words)
        ((uint64_t *)copy)[hole] = 0;
    const struct trace_packet *packet = copy;
    if (state == TRACE_PACKET_WHOLE &&
        !(header_is_sound(reader, number, packet) && content_is_sound(reader, packet)))
        return TRACE_PACKET_INCOMPLETE;
    return state;
}

/* ---- walking -------------------------------------------------------------------------------------- */

void trace_walk_begin(struct trace_walk *walk, const void *packet, uint64_t words, uint64_t end)
{
    const struct trace_packet *header = packet;
    *walk = (struct trace_walk){
        .packet = packet,
        .position = TRACE_PACKET_WORDS,
        .limit = words,
        .time = header->timestamp_begin,
        .end = end,
    };
}

/* A hole holds an event of an earlier lap, or nothing: its time lies outside the packet's, relative to the
 * event before it. */
const struct trace_header *trace_walk_next(struct trace_walk *walk)
{
    if (walk->position >= walk->limit)
        return 0;
    const struct trace_header *event = (const struct trace_header *)(walk->packet + walk->position * 8);
    /* in one load: the ring may change while it is walked in place */
    const union {
        uint64_t word;
        struct trace_header header;
    } u = {.word = __atomic_load_n((const uint64_t *)event, __ATOMIC_RELAXED)};
    const struct trace_header seen = u.header;
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* header before data: pairs with fence 2 of reserve_cas.h */
    uint32_t step = seen.timestamp - (uint32_t)walk->time;
    bool is_filler = seen.id == TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_FILLER);
    bool fits = seen.length && walk->position + seen.length <= walk->limit;
    bool in_time = walk->end == ~0ull ? step <= 1u << 31 : step <= walk->end - walk->time;
    if (!seen.id || is_filler || !fits || !in_time) {
        walk->broken = true;
        return 0;
    }
    walk->position += seen.length;
    walk->time += step;
    return event;
}

/* Ends the content of a copy at word `position`: an end event, then a filler up to `size`. */
static void end_content(struct trace_packet *packet, uint64_t position, uint64_t size, uint64_t time)
{
    struct trace_header *event = (struct trace_header *)((char *)packet + position * 8);
    uint64_t rest = size - position - 1;
    *event = (struct trace_header){
        .id = TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_END), .length = 1, .timestamp = (uint32_t)time};
    if (rest)
        event[1] = (struct trace_header){.id = TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_FILLER),
                                         .length = rest <= TRACE_LENGTH_MAX ? (uint32_t)rest : 0,
                                         .timestamp = (uint32_t)time};
    packet->timestamp_end = time;
    packet->content_size = (position + 1) * 64;
}

/* Where a packet's content may end. */
struct cut {
    uint64_t position, time;
};

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

/* Walks a copy whose header is sound up to `limit`; ends its content before the first hole. `committed`:
 * words of the packet known to be written. */
static bool cut_content(struct trace_packet *packet, uint64_t limit, uint64_t size, uint64_t end,
                        uint64_t committed)
{
    struct trace_walk walk;
    trace_walk_begin(&walk, packet, limit, end);
    const struct trace_header *event = trace_walk_next(&walk);
    if (!event || event->id != TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_CONTEXT) ||
        event->length != TRACE_CONTEXT_WORDS)
        return false;
    const struct cut context = {walk.position, walk.time};
    struct cut before_last = context, last = context;
    while ((event = trace_walk_next(&walk)) && event->id != TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_END)) {
        before_last = last;
        last = (struct cut){walk.position, walk.time};
    }
    if (event || (!walk.broken && committed > last.position))
        before_last = last; /* the packet is closed: what is missing may be anywhere */
    const uint64_t missing = (event ? size : last.position) - committed;
    const struct cut cut = walk.broken ? last : choose_cut(missing, context, before_last, last);
    if (walk.broken || missing)
        packet->flags |= TRACE_PACKET_CUT;
    end_content(packet, cut.position, size, cut.time);
    return true;
}

bool trace_packet_cut(const struct trace_reader *reader, uint64_t number, void *copy)
{
    struct trace_packet *packet = copy;
    const uint64_t size = buffer_words(reader);
    if (!header_is_sound(reader, number, packet))
        return false;
    /* The closer writes the packet's end; use it if it did. */
    uint64_t end = content_is_sound(reader, packet) ? packet->timestamp_end : ~0ull;
    /* leaves one word for the end event */
    return cut_content(packet, size - 1, size, end, packet->committed) && content_is_sound(reader, packet);
}

bool trace_packet_snapshot(const struct trace_reader *reader, void *copy)
{
    const struct trace_control *control = control_of(reader);
    const uint64_t size = buffer_words(reader);
    const uint64_t number = trace_reader_head(reader);
    const struct trace_packet *from = trace_packet_at(reader, number);
    /* Acquire: pairs with release 3 of reserve_cas.h, of the commits that it counts. The index after the
     * count: if they agree, all writers have committed. */
    const uint64_t committed = __atomic_load_n(&from->committed, __ATOMIC_ACQUIRE);
    const uint64_t index = __atomic_load_n(&control->index, __ATOMIC_RELAXED);
    const uint64_t limit = trace_index_open_words(index, size);
    const uint64_t hole = committed == limit ? limit : find_hole(reader, from, limit);
    for (uint64_t i = 0; i < limit; i++)
        ((uint64_t *)copy)[i] = ((const volatile uint64_t *)from)[i];
    /* the copy before another check of the index: pairs with fence 1 of reserve_cas.h */
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (hole < limit)
        ((uint64_t *)copy)[hole] = 0;
    struct trace_packet *packet = copy;
    if (trace_index_newest(index, size) != number || trace_reader_head(reader) != number ||
        limit < TRACE_PACKET_WORDS + TRACE_CONTEXT_WORDS || !header_is_sound(reader, number, packet) ||
        trace_in_doubt(count_of(from)) || !trace_reader_is_current(reader))
        return false;
    if (!cut_content(packet, limit, size, ~0ull, committed))
        return false;
    packet->committed = size;
    return true;
}

/* ---- rings of a dead system ----------------------------------------------------------------------- */

static bool has_packet(const struct trace_reader *reader, uint64_t number)
{
    return header_is_sound(reader, number, trace_packet_at(reader, number));
}

/* The highest number in the ring: for an index that was overwritten. */
static bool find_newest(const struct trace_reader *reader, uint64_t *newest)
{
    bool found = false;
    for (uint64_t place = 0; place < trace_reader_buffers(reader); place++) {
        uint64_t number = trace_packet_at(reader, place)->packet_seq_num;
        if (number % trace_reader_buffers(reader) != place || !has_packet(reader, number))
            continue;
        if (!found || number > *newest)
            *newest = number;
        found = true;
    }
    return found;
}

/* Whether the control page belongs to these packets. A writer that changed buffers may not have written the
 * header yet. */
static bool index_is_good(const struct trace_reader *reader)
{
    const uint64_t newest = trace_index_newest(index_of(reader), buffer_words(reader));
    return has_packet(reader, newest) || (newest > 0 && has_packet(reader, newest - 1));
}

uint64_t trace_salvage_discarded(const struct trace_reader *reader)
{
    return index_is_good(reader) ? trace_reader_discarded(reader) : 0;
}

bool trace_salvage_range(const struct trace_reader *reader, uint64_t *first, uint64_t *last)
{
    const uint64_t count = trace_reader_buffers(reader);
    *last = trace_index_newest(index_of(reader), buffer_words(reader));
    if (!index_is_good(reader) && !find_newest(reader, last))
        return false;
    *first = *last >= count ? *last - count + 1 : 0;
    return true;
}

bool trace_packet_salvage(const struct trace_reader *reader, uint64_t number, void *copy)
{
    const uint64_t *from = (const uint64_t *)trace_packet_at(reader, number);
    const struct trace_packet *packet = copy;
    const uint64_t words = buffer_words(reader);
    if (!has_packet(reader, number))
        return false;
    if (trace_reader_head(reader) == number && trace_packet_snapshot(reader, copy))
        return true;
    for (uint64_t i = 0; i < words; i++)
        ((uint64_t *)copy)[i] = from[i];
    if (trace_in_doubt(packet->committed))
        return false;
    return (packet->committed == words && content_is_sound(reader, packet)) ||
           trace_packet_cut(reader, number, copy);
}
