/*
 * trace/ring/read.c - reads rings that are mapped here; see read.h. The rules are in read_rules.h.
 *
 * All sizes come from the reader's own geometry, never from the info page. So each access lies in the ring
 * and each copy fits, whatever a program writes into a ring.
 */
#include <trace/ring/read.h>
#include <trace/ring/ring.h>

typedef const struct trace_reader RING;
#define ring_load           trace_reader_load
#define ring_head           trace_reader_head
#define ring_is_current     trace_reader_is_current
#define ring_events_before  trace_reader_events_before
#define ring_packet_state   trace_packet_state
#define ring_packet_copy    trace_packet_copy
#define ring_packet_cut     trace_packet_cut
#define ring_packet_salvage trace_packet_salvage
#include <trace/ring/read_rules.h>

/* ---- for the rules -------------------------------------------------------------------------------- */

static const uint8_t *ring_uuid(RING *ring)
{
    return ring->info->uuid;
}

static bool ring_swaps(RING *ring)
{
    return false;
}

uint64_t trace_reader_load(RING *ring, uint64_t offset)
{
    return __atomic_load_n((const uint64_t *)(ring->ring + offset), __ATOMIC_ACQUIRE);
}

static void ring_copy(RING *ring, uint64_t number, uint64_t *to, uint64_t words)
{
    const volatile uint64_t *from = (const volatile uint64_t *)trace_packet_at(ring, number);
    uint64_t i = 0;
    for (; i + 8 <= words; i += 8, to += 8, from += 8) {
        /* unrolled: this loop is a third of a pull's cost in the guest */
        to[0] = from[0], to[1] = from[1], to[2] = from[2], to[3] = from[3];
        to[4] = from[4], to[5] = from[5], to[6] = from[6], to[7] = from[7];
    }
    for (; i < words; i++)
        *to++ = *from++;
    TRACE_TEST_POINT(TRACE_AFTER_COPY);
}

static uint64_t ring_index(RING *ring)
{
    return ring_load(ring, TRACE_CONTROL_AT(index));
}

uint64_t trace_reader_head(RING *ring)
{
    return trace_eras_head(&ring->eras, ring_index(ring));
}

/* The CPUs' clocks may differ a little. */
static uint64_t ring_latest(RING *ring, uint64_t number)
{
    return ring->latest ? ring->latest : arch_trace_clock() + TRACE_TIME_SPAN;
}

static bool ring_is_live(RING *ring)
{
    return true;
}

bool trace_reader_is_current(RING *ring)
{
    /* orders all earlier reads before the geometry: pairs with the fence in start_over() */
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&ring->info->geometry, __ATOMIC_RELAXED) == ring->geometry;
}

/* ---- the control page ----------------------------------------------------------------------------- */

const struct trace_packet *trace_packet_at(const struct trace_reader *reader, uint64_t number)
{
    return (const struct trace_packet *)(reader->ring + ring_packet_offset(reader, number));
}

uint64_t trace_open_words(const struct trace_reader *reader)
{
    const uint64_t used = trace_index_open_words(ring_index(reader), ring_buffer_words(reader));
    const uint64_t first = TRACE_PACKET_WORDS + TRACE_CONTEXT_WORDS;
    return used > first ? used - first : 0;
}

uint64_t trace_reader_oldest(const struct trace_reader *reader)
{
    return trace_eras_oldest(&reader->eras, ring_index(reader));
}

uint64_t trace_reader_back(const struct trace_reader *reader, uint64_t number, uint64_t bytes)
{
    const uint64_t start = trace_eras_start(&reader->eras, number);
    return trace_eras_number(&reader->eras, start > bytes / 8 ? start - bytes / 8 : 0);
}

uint64_t trace_reader_tail(const struct trace_reader *reader)
{
    const uint64_t oldest = trace_reader_oldest(reader);
    const uint64_t consumed = __atomic_load_n(&reader->info->consumed[reader->cpu], __ATOMIC_RELAXED);
    return consumed > oldest ? consumed : oldest;
}

uint64_t trace_reader_events(const struct trace_reader *reader)
{
    return trace_index_events(ring_index(reader), ring_load(reader, TRACE_CONTROL_AT(events)));
}

/* ---- packets -------------------------------------------------------------------------------------- */

bool trace_packet_snapshot(const struct trace_reader *reader, void *copy)
{
    return ring_packet_snapshot(reader, ring_head(reader), copy);
}

void trace_walk_begin(struct trace_walk *walk, const void *packet, uint64_t words, uint64_t end)
{
    *walk = trace_walk_of(packet, ((const struct trace_packet *)packet)->timestamp_begin, words, end);
}

const struct trace_header *trace_walk_next(struct trace_walk *walk)
{
    if (walk->position >= walk->limit)
        return 0;
    const struct trace_header *event = (const struct trace_header *)(walk->packet + walk->position * 8);
    /* in one load: the ring may change while it is walked in place */
    const union {
        uint64_t word;
        struct trace_header header;
    } seen = {.word = __atomic_load_n((const uint64_t *)event, __ATOMIC_RELAXED)};
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* header before data: pairs with fence 2 of cas.h */
    return trace_walk_take(walk, seen.header) ? event : 0;
}

/* ---- rings of a dead system ----------------------------------------------------------------------- */

/* The highest number in the ring: for an index that was overwritten. */
static bool find_newest(const struct trace_reader *reader, uint64_t *newest)
{
    bool found = false;
    for (uint64_t place = 0; place < reader->eras.ring_words; place += ring_buffer_words(reader)) {
        const char *at = reader->ring + TRACE_BUFFERS_OFFSET + place * 8;
        uint64_t number = ((const struct trace_packet *)at)->packet_seq_num;
        if ((const char *)trace_packet_at(reader, number) != at || !ring_holds(reader, number))
            continue;
        if (!found || number > *newest)
            *newest = number;
        found = true;
    }
    return found;
}

uint64_t trace_salvage_discarded(const struct trace_reader *reader)
{
    return ring_leads_to_packet(reader, ring_index(reader))
               ? trace_reader_load(reader, TRACE_CONTROL_AT(discarded))
               : 0;
}

bool trace_salvage_range(const struct trace_reader *reader, uint64_t *first, uint64_t *last)
{
    const uint64_t index = ring_index(reader);
    *last = ring_newest(reader, index);
    if (!ring_leads_to_packet(reader, index) && !find_newest(reader, last))
        return false;
    const uint64_t end = trace_eras_start(&reader->eras, *last) + ring_buffer_words(reader);
    *first =
        trace_eras_number(&reader->eras, end > reader->eras.ring_words ? end - reader->eras.ring_words : 0);
    return true;
}
