/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/source/image_ring.c - finding, checking and copying packets of a ring in a guest's memory; what
 * is in a copy: image_copy.c.
 *
 * The same as trace/ring/read.c does with a mapped window: there is explained how a reader tells what is
 * whole. With live memory the guest's processors are other threads of this host, so the loads have the order
 * that they have there, and pair with the same stores (trace/ring/reserve_cas.h): acquire of the index, the
 * packet's number and its count; after a copy a fence, then the index again.
 *
 * What differs: a packet that is not whole is copied twice and the hole looked for in the first copy, which
 * is as good as looking in place; an index that leads to no packet is not followed; and in place of the
 * clock, which cannot be read from here, the packet behind says what is too late.
 */
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/source/image_copy.h>

#define PIECES_MAX  64u
#define INDEX_TRIES 100u /* a guest that laps its reader so often moves its index at random */

/* ---- memory of a window ---------------------------------------------------------------------------- */

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
        /* without a hole but the one behind the control page, and all of it memory */
        if (at == 0 && e->offset == 0 && e->bytes >= sizeof(struct trace_control) &&
            e->bytes < TRACE_BUFFERS_OFFSET)
            at = TRACE_BUFFERS_OFFSET;
        else if (e->offset == at && at < end)
            at += e->bytes;
        if (!memory_covers(image->memory, e->physical, e->bytes))
            return fail_set(fail, "the memory at %#llx, of processor %u's buffers, is not there",
                            (unsigned long long)e->physical, cpu);
    }
    if (at < end)
        return fail_set(fail, "the store does not say where all of processor %u's buffers lie", cpu);
    ring->head = image_ring_head(ring);
    return true;
}

/* The extent that holds a byte of the window; there is one for each that is asked for. */
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

/* Live memory: each word is copied in one piece. */
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

/* Words of the window, as they lie in memory: piece by piece, as extents and ranges allow. */
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

/* One word; what is read afterwards is no older. */
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

/* ---- where things are ------------------------------------------------------------------------------- */

#define CONTROL(field) offsetof(struct trace_control, field)
#define PACKET(field)  offsetof(struct trace_packet, field)

static uint64_t buffer_words(const struct image_ring *ring)
{
    return ring->image->store.buffer_bytes / 8;
}

/* Of packet `number`, or another that has its buffer: bytes from the window's start. */
static uint64_t packet_at(const struct image_ring *ring, uint64_t number)
{
    const struct trace_store *store = &ring->image->store;
    return TRACE_BUFFERS_OFFSET + (number & (store->buffer_count - 1)) * store->buffer_bytes;
}

/* Is a packet's header what FORMAT.md says? */
static bool header_is_sound(const struct image_ring *ring, uint64_t number, const struct trace_packet *packet)
{
    return memcmp(packet->uuid, ring->image->store.uuid, sizeof(packet->uuid)) == 0 &&
           packet->magic == TRACE_CTF_MAGIC && packet->stream_id == TRACE_STREAM_ID &&
           packet->packet_size == buffer_words(ring) * 64 && packet->packet_seq_num == number &&
           packet->cpu_id == ring->cpu;
}

/* The header as it is now; another's may be on its way there. */
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

/* No event of a packet is later than the begin of the one behind it. A time of a far future, once believed,
 * would make every later packet seem to run backwards. */
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

/* The head as the headers tell it, when the index is not to be believed: somebody scribbled over it. It ends
 * the lap to which most packets belong, for a header may be scribbled, too. */
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
    /* a closed packet is followed by one whose header was not written yet */
    bool closed =
        most > 0 && load_acquire(ring, packet_at(ring, head) + PACKET(committed)) == buffer_words(ring);
    return head + closed;
}

static uint64_t newest_number(struct image_ring *ring)
{
    return trace_index_newest(load_acquire(ring, CONTROL(index)), buffer_words(ring));
}

/* Whoever takes a buffer writes its header a little later, so the one before will do. */
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
    do { /* both may be overwritten since the index was read: then it has moved */
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

/* Its count begins with 0; until its opener has seen to that, it is the full one of the lap before. More than
 * one event without any of them committed is not to be believed: somebody scribbled over the count. */
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
    (void)image_ring_head(ring); /* looks at the index */
    return ring->newest >= count ? ring->newest - count + 1 : 0;
}

/* What a consumer has read already is there as long as nobody overwrites it; what was forgotten when rings
 * were cleared ends at a number that never was. */
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

/* ---- copying ------------------------------------------------------------------------------------------- */

/* Has the index come round to the buffer that held this packet? An index that makes no sense has for all. */
static bool is_overwritten(struct image_ring *ring, uint64_t number)
{
    /* the copy before the second look at the index: pairs with fence 1 of reserve_cas.h */
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
    /* The number: pairs with the release in open_packet(); an earlier lap's count is gone. The count: pairs
     * with release 3 of reserve_cas.h; what was committed is visible. */
    if (load_acquire(ring, at + PACKET(packet_seq_num)) != number)
        return IMAGE_INCOMPLETE;
    const uint64_t committed = load_acquire(ring, at + PACKET(committed));
    if (trace_in_doubt(committed))
        return IMAGE_GONE;
    return committed == buffer_words(ring) ? IMAGE_WHOLE : IMAGE_INCOMPLETE;
}

/* A writer of an earlier lap may still store over it, or did while it was copied: layout.h, TRACE_DOUBT. Or
 * the rings were set up anew meanwhile. */
static bool is_spoiled(struct image_ring *ring, uint64_t number, bool was_whole)
{
    const uint64_t committed = load_acquire(ring, packet_at(ring, number) + PACKET(committed));

    return image_is_changed(ring->image) || trace_in_doubt(committed) ||
           (was_whole && committed != buffer_words(ring));
}

/* Copies `words` of a packet of which not all was committed; the first word that no event was seen in becomes
 * 0. The headers are read first: what is copied after that holds the data of every event seen (fence 2 of
 * reserve_cas.h). */
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
    /* one word is left for the end in any case */
    if (!image_copy_cut(ring->image, copy, size - 1, size, closed ? packet.timestamp_end : ~0ull, false))
        return false;
    packet = image_copy_header(ring->image, copy);
    return image_copy_content_is_sound(&packet) && packet.timestamp_end <= latest;
}

bool image_packet_snapshot(struct image_ring *ring, uint64_t *number, uint8_t *copy)
{
    const uint64_t size = buffer_words(ring);
    const uint64_t head = *number = image_ring_head(ring);
    /* The count, then the index: if they agree, whoever reserved has committed. Pairs with release 3 of
     * reserve_cas.h, of the commits that it counts. */
    const uint64_t committed = load_acquire(ring, packet_at(ring, head) + PACKET(committed));
    const uint64_t index = load_acquire(ring, CONTROL(index));
    const bool known = !(index & TRACE_INDEX_CLOSED) && index / size == head;
    /* where the index is not to be believed, events go as far as they look written */
    const uint64_t limit = known ? index % size : size - 1;
    const bool all_there = known && committed == limit;

    if ((!known && image_is_live(ring->image)) || trace_in_doubt(committed))
        return false;
    if (all_there)
        copy_window(ring, packet_at(ring, head), copy, limit * 8);
    else
        copy_with_hole(ring, head, copy, limit);
    /* the copy before another look at the index: pairs with fence 1 of reserve_cas.h */
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
