/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * image_ring.c - finds, checks and copies packets of a ring in guest memory; image_copy.c works on the
 * copies.
 *
 * Does what trace/ring/read.c does in a mapped ring; that file explains how a reader recognizes whole
 * packets. In live memory, the guest's CPUs are other threads of this host. So the loads have the same order
 * as there, and pair with the same stores (trace/ring/reserve_cas.h): acquire loads of the index, the
 * packet's number and its count; after a copy a fence, then the index again.
 *
 * The differences:
 *
 *     - A packet that is not whole is copied twice, and the hole is searched in the first copy, which is as
 *       good as searching in place.
 *     - An index that does not lead to a packet is ignored.
 *     - The clock cannot be read from here. Instead, the next packet bounds the times of events.
 */
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/source/image_copy.h>

#define PIECES_MAX  64u
#define INDEX_TRIES 100u /* an index that laps its reader this often changes at random */

/* ---- memory of a ring ------------------------------------------------------------------------------ */

bool image_ring_open(struct image_ring *ring, struct image *image, uint32_t cpu, struct fail *fail)
{
    const struct trace_store *store = &image->store;
    uint64_t end = TRACE_BUFFERS_OFFSET + store->buffer_bytes * store->buffer_count, at = 0;

    *ring = (struct image_ring){.image = image, .cpu = cpu};
    for (uint32_t i = 0; i < store->extent_count; i++) {
        const struct trace_extent *e = &image->extents[i];
        if (e->kind != TRACE_EXTENT_WINDOW || e->number != cpu)
            continue;
        if (!ring->extents)
            ring->extents = e;
        ring->extent_count++;
        /* contiguous, except after the control page, and all of it must be memory */
        if (at == 0 && e->offset == 0 && e->bytes >= sizeof(struct trace_control) &&
            e->bytes < TRACE_BUFFERS_OFFSET)
            at = TRACE_BUFFERS_OFFSET;
        else if (e->offset == at && at < end)
            at += e->bytes;
        if (!memory_covers(image->memory, e->physical, e->bytes))
            return fail_set(fail, "memory at %#llx, part of CPU %u's buffers, is missing",
                            (unsigned long long)e->physical, cpu);
    }
    if (at < end)
        return fail_set(fail, "the store does not describe all of CPU %u's buffers", cpu);
    ring->head = image_ring_head(ring);
    return true;
}

/* Returns the extent with a byte of the ring; callers pass only offsets that have one. */
static const struct trace_extent *extent_at(const struct image_ring *ring, uint64_t offset)
{
    size_t low = 0, high = ring->extent_count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (ring->extents[middle].offset <= offset)
            low = middle;
        else
            high = middle;
    }
    return &ring->extents[low];
}

uint64_t image_ring_place(const struct image_ring *ring, uint64_t offset)
{
    const struct trace_extent *extent = extent_at(ring, offset);
    uint64_t physical = extent->physical + (offset - extent->offset);
    const struct memory_range *range = memory_find(ring->image->memory, physical, 1);

    return range->place + (physical - range->physical);
}

/* Live memory: copies each word with one load. */
static void copy_live(const struct image_ring *ring, uint64_t physical, void *to, uint64_t bytes)
{
    const uint64_t *from = memory_at(ring->image->memory, physical, bytes);
    uint64_t *word = to;

    for (uint64_t i = 0; i < bytes / 8; i++)
        word[i] = from ? __atomic_load_n(&from[i], __ATOMIC_RELAXED) : 0;
}

static void read_pieces(struct image_ring *ring, const struct memory_piece *pieces, size_t count)
{
    struct memory *memory = ring->image->memory;
    struct fail fail;

    if (count > 0 && !memory->class->read(memory, pieces, count, &fail)) {
        ring->image->broken = true;
        ring->image->fail = fail;
    }
}

/* Copies words of the ring, piece by piece as extents and ranges require. */
static void copy_window(struct image_ring *ring, uint64_t offset, void *to, uint64_t bytes)
{
    struct memory_piece pieces[PIECES_MAX];
    size_t count = 0;

    while (bytes > 0) {
        const struct trace_extent *extent = extent_at(ring, offset);
        uint64_t physical = extent->physical + (offset - extent->offset);
        const struct memory_range *range = memory_find(ring->image->memory, physical, 1);
        uint64_t part = extent->bytes - (offset - extent->offset);
        uint64_t in_range = range->bytes - (physical - range->physical);
        part = part < in_range ? part : in_range;
        part = part < bytes ? part : bytes;
        if (ring->image->memory->live)
            copy_live(ring, physical, to, part);
        else
            pieces[count++] = (struct memory_piece){range->place + (physical - range->physical), to, part};
        if (count == PIECES_MAX) {
            read_pieces(ring, pieces, count);
            count = 0;
        }
        offset += part, bytes -= part;
        to = (char *)to + part;
    }
    read_pieces(ring, pieces, count);
}

/* Loads one word; later loads return nothing older. */
static uint64_t load_acquire(struct image_ring *ring, uint64_t offset)
{
    const struct trace_extent *extent = extent_at(ring, offset);
    uint64_t value = 0;

    if (ring->image->memory->live) {
        const uint64_t *word =
            memory_at(ring->image->memory, extent->physical + (offset - extent->offset), 8);
        value = word ? __atomic_load_n(word, __ATOMIC_ACQUIRE) : 0;
    } else {
        copy_window(ring, offset, &value, sizeof(value));
    }
    return image_64(ring->image, value);
}

/* ---- addresses ------------------------------------------------------------------------------------- */

#define CONTROL(field) offsetof(struct trace_control, field)
#define PACKET(field)  offsetof(struct trace_packet, field)

static uint64_t buffer_words(const struct image_ring *ring)
{
    return ring->image->store.buffer_bytes / 8;
}

/* That buffer may hold another packet now. */
static uint64_t packet_at(const struct image_ring *ring, uint64_t number)
{
    const struct trace_store *store = &ring->image->store;
    return TRACE_BUFFERS_OFFSET + (number & (store->buffer_count - 1)) * store->buffer_bytes;
}

static bool header_is_sound(const struct image_ring *ring, uint64_t number, const struct trace_packet *packet)
{
    return memcmp(packet->uuid, ring->image->store.uuid, sizeof(packet->uuid)) == 0 &&
           packet->magic == TRACE_CTF_MAGIC && packet->stream_id == TRACE_STREAM_ID &&
           packet->packet_size == buffer_words(ring) * 64 && packet->packet_seq_num == number &&
           packet->cpu_id == ring->cpu;
}

/* Reads the current header; a new one may be being written. */
static bool read_header(struct image_ring *ring, uint64_t number, struct trace_packet *packet)
{
    uint8_t copy[sizeof(*packet)];

    copy_window(ring, packet_at(ring, number), copy, sizeof(copy));
    *packet = image_copy_header(ring->image, copy);
    return !ring->image->broken && header_is_sound(ring, number, packet);
}

bool image_ring_holds(struct image_ring *ring, uint64_t number)
{
    struct trace_packet packet;
    return read_header(ring, number, &packet);
}

/* No event of a packet is later than the start of the next one. Accepting an event from the far future would
 * make all later packets seem to run backwards. */
static uint64_t latest_time(struct image_ring *ring, uint64_t number)
{
    struct trace_packet next;
    return read_header(ring, number + 1, &next) ? next.timestamp_begin : UINT64_MAX;
}

static int compare_numbers(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Derives the head from the packet headers, for a corrupted index. It is the end of the lap that most
 * packets belong to, because headers may be corrupted, too. */
static uint64_t guess_head(struct image_ring *ring)
{
    const uint64_t count = ring->image->store.buffer_count;
    uint64_t *numbers = alloc_zero(count, sizeof(numbers[0])), found = 0, head = 0, most = 0;

    for (uint64_t i = 0; i < count; i++) {
        uint64_t number = load_acquire(ring, packet_at(ring, i) + PACKET(packet_seq_num));
        if ((number & (count - 1)) == i && number < UINT64_MAX / 2 && image_ring_holds(ring, number))
            numbers[found++] = number;
    }
    qsort(numbers, found, sizeof(numbers[0]), compare_numbers);
    for (uint64_t first = 0, last = 0; last < found; last++) {
        while (numbers[last] - numbers[first] >= count)
            first++;
        if (last - first + 1 >= most) {
            most = last - first + 1;
            head = numbers[last];
        }
    }
    free(numbers);
    /* if that packet is closed, the head is the next one, whose header is not written yet */
    bool closed =
        most > 0 && load_acquire(ring, packet_at(ring, head) + PACKET(committed)) == buffer_words(ring);
    return head + closed;
}

static uint64_t newest_number(struct image_ring *ring)
{
    return trace_index_newest(load_acquire(ring, CONTROL(index)), buffer_words(ring));
}

/* A writer takes a buffer shortly before it writes the header, so the previous packet is good enough. */
static bool index_leads_to_packet(struct image_ring *ring, uint64_t number)
{
    return image_ring_holds(ring, number) || (number > 0 && image_ring_holds(ring, number - 1));
}

uint64_t image_ring_head(struct image_ring *ring)
{
    const bool is_live = image_is_live(ring->image);

    if (!is_live && (ring->index_is_good || ring->head_is_guessed))
        return ring->head;
    uint64_t index = load_acquire(ring, CONTROL(index)), later = index;
    unsigned tries = 0;
    do { /* both may be overwritten since the index was read; then the index has moved */
        index = later;
        ring->index_is_good = index_leads_to_packet(ring, trace_index_newest(index, buffer_words(ring)));
    } while (!ring->index_is_good && is_live && ++tries < INDEX_TRIES &&
             (later = load_acquire(ring, CONTROL(index))) != index);
    if (ring->index_is_good) {
        ring->newest = trace_index_newest(index, buffer_words(ring));
        ring->head = trace_index_head(index, buffer_words(ring));
    } else if (!is_live) {
        ring->newest = ring->head = guess_head(ring);
        ring->head_is_guessed = true;
    }
    return ring->head;
}

bool image_ring_has_open(struct image_ring *ring, uint64_t head)
{
    const uint64_t index = load_acquire(ring, CONTROL(index)), size = buffer_words(ring);
    return ring->index_is_good && trace_index_head(index, size) == head &&
           trace_index_open_words(index, size) > TRACE_PACKET_WORDS + TRACE_CONTEXT_WORDS;
}

/* The count of a packet begins with 0; until the writer that opens it has
 * reset it, it is the full count of the lap before. Several reserved events
 * without any committed word are implausible: the count is corrupted. */
bool image_ring_has_logged(struct image_ring *ring, uint64_t head)
{
    const uint32_t committed = (uint32_t)load_acquire(ring, packet_at(ring, head) + PACKET(committed));
    const uint64_t size = buffer_words(ring);
    const uint64_t reserved = trace_index_open_words(load_acquire(ring, CONTROL(index)), size);

    return (committed != 0 && committed != size) ||
           reserved > TRACE_PACKET_WORDS + TRACE_CONTEXT_WORDS + TRACE_LENGTH_MAX;
}

uint64_t image_ring_oldest(struct image_ring *ring)
{
    const uint64_t count = ring->image->store.buffer_count;
    (void)image_ring_head(ring); /* reads the index */
    return ring->newest >= count ? ring->newest - count + 1 : 0;
}

/* Starts at the consumed position and goes back while older packets are still there. It does not reach
 * packets from before the rings were cleared, because a number is missing in between. */
uint64_t image_ring_tail(struct image_ring *ring)
{
    uint64_t head = image_ring_head(ring), oldest = image_ring_oldest(ring);
    uint64_t tail = image_info64(ring->image, offsetof(struct trace_info, consumed) + ring->cpu * 8ull);

    if (tail < oldest || tail > head)
        tail = oldest;
    while (tail > oldest && image_ring_holds(ring, tail - 1))
        tail--;
    while (tail < head && !image_ring_holds(ring, tail))
        tail++;
    return tail;
}

uint64_t image_ring_discarded(struct image_ring *ring)
{
    return load_acquire(ring, CONTROL(discarded));
}

uint64_t image_ring_torn(struct image_ring *ring)
{
    return load_acquire(ring, CONTROL(torn));
}

/* ---- copying --------------------------------------------------------------------------------------- */

/* Whether the index has come round to the buffer of this packet; true if the index is implausible. */
static bool is_overwritten(struct image_ring *ring, uint64_t number)
{
    /* orders the copy before the second load of the index: pairs with fence 1 of reserve_cas.h */
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    const uint64_t newest = image_is_live(ring->image) ? newest_number(ring) : ring->newest;
    return newest >= number && newest - number >= ring->image->store.buffer_count;
}

static enum image_state look_at_packet(struct image_ring *ring, uint64_t number)
{
    const uint64_t at = packet_at(ring, number);

    if (image_ring_head(ring) <= number)
        return IMAGE_OPEN;
    if (is_overwritten(ring, number))
        return IMAGE_GONE;
    /* The number pairs with the release in open_packet(): the count of an earlier lap is gone. The count
     * pairs with release 3 of reserve_cas.h: everything committed is visible. */
    if (load_acquire(ring, at + PACKET(packet_seq_num)) != number)
        return IMAGE_INCOMPLETE;
    const uint64_t committed = load_acquire(ring, at + PACKET(committed));
    if (trace_in_doubt(committed))
        return IMAGE_GONE;
    return committed == buffer_words(ring) ? IMAGE_WHOLE : IMAGE_INCOMPLETE;
}

/* Whether a writer from an earlier lap may have stored into the packet, even during the copy
 * (TRACE_UNCOMMITTED_MARK in layout.h), or the rings were set up again meanwhile. */
static bool is_spoiled(struct image_ring *ring, uint64_t number, bool was_whole)
{
    const uint64_t committed = load_acquire(ring, packet_at(ring, number) + PACKET(committed));

    return image_is_changed(ring->image) || trace_in_doubt(committed) ||
           (was_whole && committed != buffer_words(ring));
}

/* Copies WORDS of a packet that is not completely committed, and sets the first word without a complete
 * event to 0. The headers are read first: what is copied later contains the data of every event found (fence
 * 2 of reserve_cas.h). */
static void copy_with_hole(struct image_ring *ring, uint64_t number, uint8_t *copy, uint64_t words)
{
    copy_window(ring, packet_at(ring, number), copy, words * 8);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    uint64_t hole = image_copy_find_hole(ring->image, copy, words);
    if (image_is_live(ring->image))
        copy_window(ring, packet_at(ring, number), copy, words * 8);
    if (hole < words)
        memset(copy + hole * 8, 0, 8);
}

enum image_state image_packet_copy(struct image_ring *ring, uint64_t number, uint8_t *copy)
{
    enum image_state state = look_at_packet(ring, number);

    if (state != IMAGE_WHOLE && state != IMAGE_INCOMPLETE)
        return state;
    if (state == IMAGE_WHOLE)
        copy_window(ring, packet_at(ring, number), copy, buffer_words(ring) * 8);
    else
        copy_with_hole(ring, number, copy, buffer_words(ring));
    if (is_overwritten(ring, number) || is_spoiled(ring, number, state == IMAGE_WHOLE) || ring->image->broken)
        return IMAGE_GONE;
    struct trace_packet packet = image_copy_header(ring->image, copy);
    if (state == IMAGE_WHOLE &&
        !(header_is_sound(ring, number, &packet) && image_copy_content_is_sound(&packet) &&
          packet.timestamp_end <= latest_time(ring, number)))
        return IMAGE_INCOMPLETE;
    return state;
}

bool image_packet_cut(struct image_ring *ring, uint64_t number, uint8_t *copy)
{
    const uint64_t size = buffer_words(ring);
    struct trace_packet packet = image_copy_header(ring->image, copy);
    uint64_t latest = latest_time(ring, number);

    if (!header_is_sound(ring, number, &packet) || packet.timestamp_begin > latest)
        return false;
    bool closed = image_copy_content_is_sound(&packet) && packet.timestamp_end <= latest;
    /* keeps one word free for the end event */
    if (!image_copy_cut(ring->image, copy, size - 1, size, closed ? packet.timestamp_end : ~0ull, false))
        return false;
    packet = image_copy_header(ring->image, copy);
    return image_copy_content_is_sound(&packet) && packet.timestamp_end <= latest;
}

bool image_packet_snapshot(struct image_ring *ring, uint64_t *number, uint8_t *copy)
{
    const uint64_t size = buffer_words(ring);
    const uint64_t head = *number = image_ring_head(ring);
    /* Loads the count, then the index: if they agree, all reservations are committed. Pairs with release 3
     * of reserve_cas.h of the commits in the count. */
    const uint64_t committed = load_acquire(ring, packet_at(ring, head) + PACKET(committed));
    const uint64_t index = load_acquire(ring, CONTROL(index));
    const bool known = !(index & TRACE_INDEX_CLOSED) && index / size == head;
    /* with an implausible index, accept events as far as they look written */
    const uint64_t limit = known ? index % size : size - 1;
    const bool all_there = known && committed == limit;

    if ((!known && image_is_live(ring->image)) || trace_in_doubt(committed))
        return false;
    if (all_there)
        copy_window(ring, packet_at(ring, head), copy, limit * 8);
    else
        copy_with_hole(ring, head, copy, limit);
    /* orders the copy before the next load of the index: pairs with fence 1 of reserve_cas.h */
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (image_is_live(ring->image) && (newest_number(ring) != head || is_spoiled(ring, head, false)))
        return false;
    struct trace_packet packet = image_copy_header(ring->image, copy);
    if (ring->image->broken || limit < TRACE_PACKET_WORDS + TRACE_CONTEXT_WORDS ||
        !header_is_sound(ring, head, &packet) ||
        !image_copy_cut(ring->image, copy, limit, size, ~0ull, all_there))
        return false;
    packet = image_copy_header(ring->image, copy);
    packet.committed = size;
    image_copy_put_header(ring->image, copy, packet);
    return true;
}
