/*
 * guest_ring.c - reads the packets of a ring in guest memory; see guest.h. In live memory, the guest's CPUs
 * are other threads of this host, so the rules' loads and fences pair with the stores of its writers.
 *
 * An index that does not lead to a packet is ignored. In memory that is not live, the packets' headers
 * replace it. The clock cannot be read from here; instead, the next packet bounds the times of events.
 */
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/source/guest.h>

typedef struct guest_ring RING;
#define ring_is_current    guest_ring_is_current
#define ring_head          guest_ring_head
#define ring_load          guest_ring_load
#define ring_events_before guest_ring_events_before
#define ring_packet_copy   guest_packet_copy
#define ring_packet_cut    guest_packet_cut
#include <trace/ring/read_rules.h>

#define TABLES_PIECE 4096u /* bytes: a page, which no extent divides */
#define INDEX_TRIES  100u  /* an index that laps its reader this often changes at random */

static void load_eras(struct guest_ring *ring)
{
    const struct trace_store *store = &ring->guest->store;
    for (uint32_t i = 0; i < TRACE_ERAS; i++) {
        const uint64_t at = TRACE_CONTROL_AT(eras) + i * sizeof(struct trace_era);
        ring->eras.era[i] =
            (struct trace_era){.number = ring_load(ring, at + offsetof(struct trace_era, number)),
                               .start = ring_load(ring, at + offsetof(struct trace_era, start)),
                               .words = ring_load(ring, at + offsetof(struct trace_era, words))};
    }
    trace_eras_check(&ring->eras, trace_geometry_word(store->buffer_bytes, store->buffer_count, 0));
}

bool guest_ring_open(struct guest_ring *ring, struct guest *guest, uint32_t cpu, struct fail *fail)
{
    const struct trace_store *store = &guest->store;
    uint64_t end = TRACE_BUFFERS_OFFSET + store->buffer_bytes * store->buffer_count,
             at = TRACE_CONTROL_OFFSET;
    *ring = (struct guest_ring){.guest = guest, .cpu = cpu};
    for (uint32_t i = 0; i < store->extent_count; i++) {
        const struct trace_extent *e = &guest->extents[i];
        if (e->kind != TRACE_EXTENT_RING || e->number != cpu)
            continue;
        if (!ring->extents)
            ring->extents = e;
        ring->extent_count++;
        /* contiguous, and all of it must be memory */
        if (e->offset == at && at < end)
            at += e->bytes;
        if (!memory_read(guest->memory, e->physical, NULL, e->bytes, fail))
            return fail_set(fail, "memory at %#llx, part of CPU %u's buffers, is missing",
                            (unsigned long long)e->physical, cpu);
    }
    if (at < end)
        return fail_set(fail, "the store does not describe all of CPU %u's buffers", cpu);
    load_eras(ring);
    (void)ring_head(ring);
    return true;
}

/* Returns the extent with a byte of the ring; callers pass only offsets that have one. */
static const struct trace_extent *extent_at(const struct guest_ring *ring, uint64_t offset)
{
    return &ring->extents[FIRST_WHERE(1, ring->extent_count, n, ring->extents[n].offset > offset) - 1];
}

uint64_t guest_ring_place(const struct guest_ring *ring, uint64_t offset)
{
    const struct trace_extent *extent = extent_at(ring, offset);
    uint64_t physical = extent->physical + (offset - extent->offset);
    const struct memory_range *range = memory_find(ring->guest->memory, physical, 1);
    return range->place + (physical - range->physical);
}

/* Copies words of the ring, extent by extent. */
static void copy_window(struct guest_ring *ring, uint64_t offset, void *to, uint64_t bytes)
{
    struct guest *guest = ring->guest;
    for (uint64_t part; bytes > 0 && !guest->broken; offset += part, bytes -= part) {
        const struct trace_extent *extent = extent_at(ring, offset);
        const uint64_t inside = offset - extent->offset;
        part = sooner(extent->bytes - inside, bytes);
        guest->broken = !memory_read(guest->memory, extent->physical + inside, to, part, &guest->fail);
        to = (char *)to + part;
    }
}

uint64_t guest_ring_tables_bytes(const struct guest_ring *ring)
{
    uint64_t at = TRACE_TABLES_OFFSET;
    for (size_t i = 0; i < ring->extent_count; i++) {
        const struct trace_extent *extent = &ring->extents[i];
        if (extent->offset <= at && at - extent->offset < extent->bytes)
            at = extent->offset + extent->bytes;
    }
    return (at < TRACE_CONTROL_OFFSET ? at : TRACE_CONTROL_OFFSET) - TRACE_TABLES_OFFSET;
}

/* From the last word to the first, each load ordered before the next: a row's `ended` is read before its
 * columns, and `begun` after them. The words are in one page. */
static void copy_live_backward(const struct guest_ring *ring, uint64_t physical, uint8_t *to, uint64_t bytes)
{
    struct memory *memory = ring->guest->memory;
    const struct memory_range *range = memory_find(memory, physical, bytes);
    const uint64_t *from =
        range ? memory->class->map(memory, range->place + (physical - range->physical), bytes) : NULL;
    for (uint64_t word = bytes / 8; word-- > 0;) {
        const uint64_t value = from ? __atomic_load_n(&from[word], __ATOMIC_ACQUIRE) : 0;
        memcpy(to + 8 * word, &value, sizeof(value));
    }
}

void guest_ring_copy_tables(struct guest_ring *ring, void *to, uint64_t bytes)
{
    if (!ring->guest->memory->live) {
        copy_window(ring, TRACE_TABLES_OFFSET, to, bytes);
        return;
    }
    while (bytes > 0) {
        const uint64_t first = (bytes - 1) / TABLES_PIECE * TABLES_PIECE;
        const uint64_t offset = TRACE_TABLES_OFFSET + first;
        const struct trace_extent *extent = extent_at(ring, offset);
        copy_live_backward(ring, extent->physical + (offset - extent->offset), (uint8_t *)to + first,
                           bytes - first);
        bytes = first;
    }
}

static const uint8_t *ring_uuid(const struct guest_ring *ring)
{
    return ring->guest->store.uuid;
}

static bool ring_swaps(const struct guest_ring *ring)
{
    return ring->guest->swap;
}

uint64_t guest_ring_load(struct guest_ring *ring, uint64_t offset)
{
    uint64_t value = 0;
    copy_window(ring, offset, &value, sizeof(value));
    return guest_64(ring->guest, value);
}

static void ring_copy(struct guest_ring *ring, uint64_t number, uint64_t *to, uint64_t words)
{
    copy_window(ring, ring_packet_offset(ring, number), to, words * 8);
}

/* The ring's index; in memory that is not live, the one that was found plausible. */
static uint64_t ring_index(struct guest_ring *ring)
{
    return guest_is_live(ring->guest) ? ring_load(ring, TRACE_CONTROL_AT(index)) : ring->index;
}

static uint64_t ring_latest(struct guest_ring *ring, uint64_t number)
{
    struct trace_packet next;
    return ring_read_header(ring, number + 1, &next) ? next.timestamp_begin : UINT64_MAX;
}

static bool ring_is_live(const struct guest_ring *ring)
{
    return guest_is_live(ring->guest);
}

bool guest_ring_is_current(struct guest_ring *ring)
{
    return !ring->guest->broken && !guest_is_changed(ring->guest);
}

bool guest_ring_has_packet(struct guest_ring *ring)
{
    return ring_leads_to_packet(ring, ring->index);
}

/* Derives the head from the packet headers, for a corrupted index. It is the end of the lap that most
 * packets belong to, because headers may be corrupted, too. */
static uint64_t guess_head(struct guest_ring *ring)
{
    const struct trace_eras *eras = &ring->eras;
    const uint64_t words = ring_buffer_words(ring), count = eras->ring_words / words;
    uint64_t *numbers = alloc_zero(count, sizeof(numbers[0])), found = 0, head = 0, most = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at = TRACE_BUFFERS_OFFSET + i * words * 8;
        uint64_t number = ring_load(ring, at + offsetof(struct trace_packet, packet_seq_num));
        if (ring_packet_offset(ring, number) == at && number < UINT64_MAX / 2 && ring_holds(ring, number))
            numbers[found++] = number;
    }
    qsort(numbers, found, sizeof(numbers[0]), compare_numbers);
    for (uint64_t first = 0, last = 0; last < found; last++) {
        while (trace_eras_start(eras, numbers[last]) - trace_eras_start(eras, numbers[first]) >=
               eras->ring_words)
            first++;
        if (last - first + 1 >= most) {
            most = last - first + 1;
            head = numbers[last];
        }
    }
    free(numbers);
    /* if that packet is closed, the head is the next one, whose header is not written yet */
    bool closed = most > 0 && ring_committed(ring, head) == ring_packet_words(ring, head);
    return head + closed;
}

uint64_t guest_ring_head(struct guest_ring *ring)
{
    const size_t at = TRACE_CONTROL_AT(index);
    const bool is_live = guest_is_live(ring->guest);
    if (!is_live && (ring->index_is_good || ring->index_is_guessed))
        return trace_eras_head(&ring->eras, ring->index);
    uint64_t index = ring_load(ring, at), later = index;
    unsigned tries = 0;
    do { /* both may be overwritten since the index was read; then the index has moved */
        index = later;
        ring->index_is_good = ring_leads_to_packet(ring, index);
    } while (!ring->index_is_good && is_live && ++tries < INDEX_TRIES &&
             (later = ring_load(ring, at)) != index);
    if (ring->index_is_good) {
        ring->index = index;
    } else if (!is_live) {
        ring->index = trace_index_at(trace_eras_start(&ring->eras, guess_head(ring)), 0);
        ring->index_is_guessed = true;
    }
    return trace_eras_head(&ring->eras, ring->index);
}

bool guest_ring_has_open(struct guest_ring *ring, uint64_t head)
{
    const uint64_t index = ring_index(ring), size = ring_buffer_words(ring);
    return ring->index_is_good && trace_eras_head(&ring->eras, index) == head &&
           trace_index_open_words(index, size) > TRACE_PACKET_WORDS + TRACE_CONTEXT_WORDS;
}

/* The count of a packet begins with 0; until the writer that opens it has
 * reset it, it is the full count of the lap before. Several reserved events
 * without any committed word are implausible: the count is corrupted. */
bool guest_ring_has_logged(struct guest_ring *ring, uint64_t head)
{
    const uint32_t committed = (uint32_t)ring_committed(ring, head);
    const uint64_t size = ring_buffer_words(ring);
    const uint64_t reserved = trace_index_open_words(ring_index(ring), size);
    return (committed != 0 && committed != size) ||
           reserved > TRACE_PACKET_WORDS + TRACE_CONTEXT_WORDS + TRACE_LENGTH_MAX;
}

uint64_t guest_ring_oldest(struct guest_ring *ring)
{
    (void)ring_head(ring); /* reads the index */
    return trace_eras_oldest(&ring->eras, ring->index);
}

uint64_t guest_ring_kept(struct guest_ring *ring)
{
    const struct trace_eras *eras = &ring->eras;
    const uint64_t end = trace_eras_start(eras, ring_head(ring)) + ring_buffer_words(ring);
    const uint64_t kept = eras->ring_words / 4 * 3;
    return trace_eras_number(eras, end > kept ? end - kept : 0);
}

/* Starts at the consumed position and goes back while older packets are still there. It does not reach
 * packets from before the rings were cleared, because a number is missing in between. */
uint64_t guest_ring_tail(struct guest_ring *ring)
{
    uint64_t head = ring_head(ring), oldest = guest_ring_oldest(ring);
    uint64_t tail = guest_info64(ring->guest, offsetof(struct trace_info, consumed) + ring->cpu * 8ull);
    if (tail < oldest || tail > head)
        tail = oldest;
    while (tail > oldest && ring_holds(ring, tail - 1))
        tail--;
    while (tail < head && !ring_holds(ring, tail))
        tail++;
    return tail;
}

bool guest_packet_snapshot(struct guest_ring *ring, uint64_t *number, void *copy)
{
    *number = ring_head(ring);
    return guest_is_live(ring->guest) ? ring_packet_snapshot(ring, *number, copy)
                                      : ring_packet_salvage(ring, *number, copy);
}
