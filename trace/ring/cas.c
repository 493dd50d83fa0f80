/*
 * trace/ring/cas.c - the slow path of the discipline without restarts: change of buffer, a full ring, and
 * tail.c's events.
 *
 * Runs in every program and in the kernel, without locks or system calls. FORMAT.md, "A buffer's life",
 * describes the steps. One swap of the index reserves the rest of the old buffer, header and context event of
 * the next one, and the caller's own event. The winner writes them; no writer waits.
 *
 * Bounds: every loop ends after RESERVE_TRIES; every place is masked by the info page, so a corrupt control
 * page corrupts only the trace.
 */
#include <trace/ring/packet.h>
#include <trace/ring/ring.h>

/* A swap fails only because another one succeeded. A program that keeps changing the index to stop others
 * costs them this many attempts and a discarded event, no more. */
#define RESERVE_TRIES 1000

struct reservation {
    char *ring;
    struct trace_control *control;
    uint64_t index;
    uint64_t now;
    uint64_t limit;
    uint64_t discarded;
};

enum attempt { DONE, AGAIN, NO_SPACE };

static void read_state_of(struct reservation *r)
{
    r->control = trace_control_of(r->ring);
    /* Acquire: the count of discarded events and the clock are read after the index. Pairs with the release
     * in swap_index(): a later packet's count is never below an earlier one's. The count before the clock:
     * the losses that it counts came before a packet that begins now. */
    r->index = __atomic_load_n(&r->control->index, __ATOMIC_ACQUIRE);
    TRACE_TEST_POINT(TRACE_AFTER_INDEX_READ);
    r->discarded = __atomic_load_n(&r->control->discarded, __ATOMIC_RELAXED);
    r->limit = __atomic_load_n(&r->control->time_limit, __ATOMIC_RELAXED);
    r->now = arch_trace_clock();
    TRACE_TEST_POINT(TRACE_AFTER_STATE_READ);
}

static bool read_state(struct reservation *r)
{
    r->ring = arch_trace_ring();
    read_state_of(r);
    return arch_trace_same_ring(r->ring);
}

static bool swap_index(struct reservation *r, uint64_t next)
{
    uint64_t expected = r->index;
    /* release: pairs with the acquire in read_state_of() */
    if (!__atomic_compare_exchange_n(&r->control->index, &expected, next, false, __ATOMIC_RELEASE,
                                     __ATOMIC_RELAXED))
        return false;
    __atomic_thread_fence(__ATOMIC_RELEASE); /* fence 1 of cas.h */
    return true;
}

/* Raises the time limit, never lowers it: no event of the open packet is later than the limit. */
static void raise_limit(struct trace_control *control, uint64_t limit)
{
    uint64_t old = __atomic_load_n(&control->time_limit, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < RESERVE_TRIES && old < limit; i++)
        if (__atomic_compare_exchange_n(&control->time_limit, &old, limit, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return;
}

/* Words of this lap in a `committed`; negative: the packet's opener was a lap late. */
static int64_t words_of(uint64_t committed)
{
    return (int32_t)committed;
}

/* A packet must not end before it begins. If it does, only its opener logged there, at its begin. */
static void correct_end(struct trace_packet *packet)
{
    const uint64_t begin = packet->timestamp_begin;
    const uint64_t end = (packet->content_size / 64 - 1) & arch_trace_info()->buffer_mask;
    if (packet->timestamp_end >= begin)
        return;
    packet_store_event((char *)packet + end * 8, TRACE_MINOR_END, 1, begin);
    packet->timestamp_end = begin;
}

/* Commits the words of packet `number` that its opener or its closer wrote.
 *
 * After a gap a packet begins past the time limit. If its opener is interrupted before it raises the limit,
 * the next writer closes the packet at that limit: before its begin. So the one that commits second corrects
 * the end. The closer is second if `packet_seq_num` is set, the opener if at least `others` words are
 * committed: all but its own. The swap fails if the other one commits after this check; then it is repeated.
 */
static void commit_and_mend(struct trace_packet *packet, uint64_t number, uint64_t words, int64_t others)
{
    /* acquire, here and below: pairs with the release of the other one's swap */
    uint64_t committed = __atomic_load_n(&packet->committed, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < RESERVE_TRIES; i++) {
        if (packet->packet_seq_num == number && words_of(committed) >= others)
            correct_end(packet);
        /* release 3 of cas.h */
        if (__atomic_compare_exchange_n(&packet->committed, &committed, committed + words, false,
                                        __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
            return;
    }
    __atomic_fetch_add(&packet->committed, words, __ATOMIC_RELEASE); /* a program keeps changing the count */
}

/* Ends the packet that holds word `words`, and commits the rest of its buffer. */
static void close_packet(char *ring, uint64_t words, uint64_t time)
{
    const uint64_t buffer_mask = arch_trace_info()->buffer_mask;
    struct trace_packet *packet = packet_end(ring, words, time);
    commit_and_mend(packet, packet_number(ring, words & ~buffer_mask),
                    buffer_mask + 1 - (words & buffer_mask), 0);
}

/* Opens the packet that begins there. Its `committed` already counts from 0; the opener will commit `words`
 * more for its own event. */
static void open_packet(char *ring, struct packet_begin begin, uint32_t words)
{
    const uint64_t size = arch_trace_info()->buffer_mask + 1, own = TRACE_PACKET_WORDS + TRACE_CONTEXT_WORDS;
    struct trace_packet *packet = packet_begin(ring, begin);
    /* release: pairs with the acquire in trace_packet_state(); a reader of this number sees the header, and
     * the earlier lap's count removed */
    const uint64_t number = packet_number(ring, begin.start);
    __atomic_store_n(&packet->packet_seq_num, number, __ATOMIC_RELEASE);
    commit_and_mend(packet, number, own, (int64_t)(size - own - words));
}

static uint64_t low_bits(uint64_t value, unsigned bits)
{
    return value & ((1ull << bits) - 1);
}

static bool is_negative(uint64_t uncommitted)
{
    return uncommitted >> (TRACE_UNCOMMITTED_COUNT_BITS - 1);
}

/* The latest time at which the last words of a packet opened as `number` were reserved. The end of an earlier
 * packet is not later than its begin. */
static uint64_t end_of_reserving(const struct trace_packet *packet, uint64_t number, uint64_t now)
{
    const uint64_t end = packet->timestamp_end;
    const bool is_closed = packet->packet_seq_num == number && end > packet->timestamp_begin && end <= now;
    return is_closed ? end : now;
}

/* Minimum time for which the inherited words in `high`, the upper half of a count, have been uncommitted. */
static uint64_t uncommitted_age(const struct trace_packet *packet, uint64_t number, uint64_t high,
                                uint64_t now)
{
    const uint64_t since = low_bits(high >> TRACE_UNCOMMITTED_COUNT_BITS, TRACE_UNCOMMITTED_TIME_BITS);
    const uint64_t age = low_bits((now >> TRACE_UNCOMMITTED_UNIT) - since, TRACE_UNCOMMITTED_TIME_BITS)
                         << TRACE_UNCOMMITTED_UNIT;
    const uint64_t begin = packet->timestamp_begin;
    const bool is_older = packet->packet_seq_num == number && begin <= now && now - begin > age;
    return is_older ? now - begin : age;
}

/* Whether this is the header of a packet of this buffer: of `number`, or of an earlier lap whose successor
 * was not opened yet. */
static bool is_header_of_buffer(const struct trace_packet *packet, uint64_t number)
{
    const struct trace_info *info = arch_trace_info();
    const uint64_t seq = packet->packet_seq_num;
    return packet->magic == TRACE_CTF_MAGIC && packet->stream_id == TRACE_STREAM_ID &&
           packet->packet_size == (info->buffer_mask + 1) * 64 &&
           (seq == TRACE_NO_PACKET || ((number - seq) & (info->buffer_count - 1)) == 0);
}

/* The initial `committed` of a buffer: 0, or inherited uncommitted words. `earlier` is its value when the
 * buffer was taken, with packet `number` in it. Words ever reserved in a buffer and words ever committed are
 * tracked exactly from lap to lap: no writer is late only if they agree. */
static uint64_t first_count(const struct trace_packet *packet, uint64_t number, uint64_t earlier,
                            uint64_t now)
{
    /* If a program has overwritten the header, this count is random too. */
    const bool is_opened = packet->magic || packet->packet_size;
    if (is_opened && !is_header_of_buffer(packet, number))
        return 0;
    const uint64_t size = arch_trace_info()->buffer_mask + 1, counted = (uint64_t)words_of(earlier);
    const uint64_t high = (earlier - counted) >> 32;
    const uint64_t uncommitted_before = low_bits(high, TRACE_UNCOMMITTED_COUNT_BITS);
    const uint64_t uncommitted = low_bits(uncommitted_before + size - counted, TRACE_UNCOMMITTED_COUNT_BITS);
    const bool was_opened = packet->packet_seq_num == number || packet->packet_seq_num == TRACE_NO_PACKET;
    /* Too much was committed: a writer committed words that had been written off. Or the opener of the
     * earlier packet has not made it count from 0 yet: its words stay uncommitted, also a lap later. */
    const bool is_forgotten_commit =
        is_negative(uncommitted) && was_opened && !is_negative(uncommitted_before);
    if (!uncommitted || is_forgotten_commit)
        return 0;
    const uint64_t age = uncommitted == uncommitted_before ? uncommitted_age(packet, number, high, now)
                                                           : now - end_of_reserving(packet, number, now);
    if (age >= TRACE_PATIENCE_SECONDS * arch_trace_info()->clock_hz)
        return 0;
    const uint64_t since = low_bits((now - age) >> TRACE_UNCOMMITTED_UNIT, TRACE_UNCOMMITTED_TIME_BITS);
    return TRACE_UNCOMMITTED_MARK | since << (32 + TRACE_UNCOMMITTED_COUNT_BITS) | uncommitted << 32;
}

static bool is_closed(const struct reservation *r)
{
    return r->index & TRACE_INDEX_CLOSED;
}

/* If the clock passed the limit, the low halves of the times may have wrapped unnoticed. The limit is not
 * earlier than any event of the open packet and less than 2^32 after the last one, so the packet ends there,
 * or at its begin (commit_and_mend). */
static uint64_t end_of_open(const struct reservation *r)
{
    return r->now < r->limit ? r->now : r->limit;
}

/* Takes the next buffer, with `words` for the caller after its header; 0: a flush. */
static enum attempt change_buffer(struct reservation *r, uint32_t words, struct trace_slot *slot)
{
    const struct trace_info *info = arch_trace_info();
    const uint64_t size = info->buffer_mask + 1;
    const uint64_t end = trace_index_words(r->index);
    const uint64_t start = (end | info->buffer_mask) + 1; /* the next buffer's first word */
    const uint64_t own = start + TRACE_PACKET_WORDS + TRACE_CONTEXT_WORDS;
    if (trace_geometry_is_changing(info->geometry) || !packet_is_free(r->ring, start))
        return NO_SPACE;
    /* An event was discarded since we read the clock: the packet must begin after that. */
    if (__atomic_load_n(&r->control->discarded, __ATOMIC_RELAXED) != r->discarded)
        return AGAIN;
    struct trace_slot first;
    trace_place(&first, info, r->ring, trace_index_at(start, 0));
    uint64_t *committed = &first.packet->committed;
    /* acquire: pairs with release 3, orders the earlier lap's stores before ours */
    const uint64_t earlier_lap = __atomic_load_n(committed, __ATOMIC_ACQUIRE);
    const uint64_t number = packet_number(r->ring, start) - info->buffer_count; /* of the earlier lap */
    const bool is_fresh = !earlier_lap && !first.packet->magic;                 /* memory never used */
    /* where an earlier packet of another size lies, the word is not a count */
    const bool is_opened = first.packet->magic || first.packet->packet_size;
    const bool is_counted = !is_fresh && (!is_opened || is_header_of_buffer(first.packet, number));
    const uint64_t begin = is_fresh ? 0 : first_count(first.packet, number, earlier_lap, r->now);

    TRACE_TEST_POINT(TRACE_BEFORE_CHANGE);
    /* the context event and the caller's own */
    if (!swap_index(r, trace_index_at(own + words, r->index) + (words ? 2 : 1)))
        return AGAIN;
    TRACE_TEST_POINT(TRACE_AFTER_CHANGE);
    /* Remove the earlier lap's count first, before packet_seq_num names another packet: until then a reader
     * rejects the packet by its number, afterwards by its count. */
    __atomic_fetch_add(committed, begin - earlier_lap, __ATOMIC_RELAXED);
    /* Release: a reader that sees the new header sees the new count, even if we come a lap late; pairs with
     * the fence in trace_packet_copy(). */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    const int64_t missing = (int64_t)size - words_of(earlier_lap);
    if (is_counted && missing > 0)
        __atomic_fetch_add(&r->control->torn, (uint64_t)missing, __ATOMIC_RELAXED);

    if (!is_closed(r))
        close_packet(r->ring, end, end_of_open(r));
    TRACE_TEST_POINT(TRACE_BEFORE_OPEN);
    const uint64_t events =
        trace_index_events(r->index, __atomic_load_n(&r->control->events, __ATOMIC_RELAXED));
    __atomic_store_n(&r->control->events, events, __ATOMIC_RELAXED);
    open_packet(r->ring, (struct packet_begin){start, r->now, r->discarded, events}, words);
    TRACE_TEST_POINT(TRACE_BEFORE_LIMIT);
    raise_limit(r->control, trace_time_limit(r->now));
    trace_place(slot, arch_trace_info(), r->ring, trace_index_at(own, 0));
    return DONE;
}

static enum attempt try_reserve(struct reservation *r, uint32_t words, struct trace_slot *slot)
{
    if (!read_state(r))
        return AGAIN;
    const uint64_t next = r->index + TRACE_INDEX_STEP(words);
    if (r->now > r->limit || (r->index ^ next) >> TRACE_INDEX_SHIFT > arch_trace_info()->buffer_mask)
        return change_buffer(r, words, slot);
    TRACE_TEST_POINT(TRACE_BEFORE_RESERVE);
    if (!swap_index(r, next))
        return AGAIN;
    TRACE_TEST_POINT(TRACE_AFTER_RESERVE);
    trace_place(slot, arch_trace_info(), r->ring, r->index);
    return DONE;
}

/* The index at which the ring is closed at the end of its buffer. */
static uint64_t closed_index(const struct reservation *r)
{
    const uint64_t last = trace_index_words(r->index) | arch_trace_info()->buffer_mask;
    return last << TRACE_INDEX_SHIFT | (r->index & TRACE_INDEX_EVENTS) | TRACE_INDEX_CLOSED;
}

/* Before the event is counted: a reader that sees the count sees no earlier time. */
static void note_time_of_loss(const struct reservation *r)
{
    uint64_t *time = &r->control->discarded_at;
    if (__atomic_load_n(time, __ATOMIC_RELAXED) < r->now)
        __atomic_store_n(time, r->now, __ATOMIC_RELAXED);
}

/* An event found no free buffer: counts it, and closes the open packet. A writer that later finds a free
 * buffer opens the next one. */
static enum attempt discard(struct reservation *r)
{
    const uint64_t words = trace_index_words(r->index), closed = closed_index(r);
    TRACE_TEST_POINT(TRACE_BEFORE_STOP);
    if (!is_closed(r) && !swap_index(r, closed))
        return AGAIN;
    note_time_of_loss(r);
    /* A loss counted while a packet is open is reported one packet too late. So check, and count at once,
     * without a branch: a thread that finds the ring full again and again is likely to be interrupted here.
     */
    const bool is_lost = __atomic_load_n(&r->control->index, __ATOMIC_RELAXED) == closed;
    /* release, also below: the time before the count; pairs with the acquire of ring_load() in read.c */
    __atomic_fetch_add(&r->control->discarded, is_lost, __ATOMIC_RELEASE);
    TRACE_TEST_POINT(TRACE_AFTER_STOP);
    if (!is_closed(r))
        close_packet(r->ring, words, end_of_open(r));
    return is_lost ? NO_SPACE : AGAIN;
}

static bool reserve_at_length(struct reservation *r, struct trace_slot *slot, uint32_t words)
{
    for (unsigned i = 0; i < RESERVE_TRIES; i++) {
        enum attempt result = try_reserve(r, words, slot);
        slot->time = r->now;
        if (result == DONE)
            return true;
        if (result == NO_SPACE && discard(r) == NO_SPACE)
            return false;
    }
    /* a program keeps changing the control page */
    note_time_of_loss(r);
    __atomic_fetch_add(&r->control->discarded, 1, __ATOMIC_RELEASE);
    return false;
}

uint64_t trace_log_slow(uint32_t id, const uint64_t *fixed, uint32_t words)
{
    struct reservation r;
    struct trace_slot slot;
    if (!reserve_at_length(&r, &slot, words))
        return (uint32_t)r.now;
    for (uint32_t i = 0; i + 1 < words; i++)
        trace_put_64(&slot, i * 8, fixed[i]);
    trace_commit(&slot, id, words);
    return (uint32_t)slot.time;
}

bool trace_ring_flush(char *ring)
{
    struct reservation r;
    struct trace_slot slot;
    for (unsigned i = 0; i < RESERVE_TRIES; i++) {
        r.ring = ring;
        read_state_of(&r);
        if (trace_index_open_words(r.index, arch_trace_info()->buffer_mask + 1) <=
            TRACE_PACKET_WORDS + TRACE_CONTEXT_WORDS)
            return false; /* nothing but a context yet */
        enum attempt result = change_buffer(&r, 0, &slot);
        if (result != AGAIN)
            return result == DONE;
    }
    return false;
}

void trace_ring_stop(char *ring)
{
    struct reservation r = {.ring = ring};
    for (unsigned i = 0; i < RESERVE_TRIES; i++) {
        read_state_of(&r);
        if (is_closed(&r))
            return;
        if (!swap_index(&r, closed_index(&r)))
            continue;
        close_packet(ring, trace_index_words(r.index), end_of_open(&r));
        return;
    }
}

void trace_ring_go_on(char *ring)
{
    (void)ring;
}

void trace_ring_open(char *ring, uint64_t start)
{
    struct trace_control *control = trace_control_of(ring);
    const uint64_t now = arch_trace_clock();
    const struct trace_slot slot = packet_place(ring, start);
    /* atomic: the ring may be another CPU's, where a writer that has begun goes on */
    __atomic_store_n(&slot.packet->committed, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&control->time_limit, trace_time_limit(now), __ATOMIC_RELAXED);
    const uint64_t events = trace_index_events(__atomic_load_n(&control->index, __ATOMIC_RELAXED),
                                               __atomic_load_n(&control->events, __ATOMIC_RELAXED));
    __atomic_store_n(&control->events, events, __ATOMIC_RELAXED);
    const uint64_t discarded = __atomic_load_n(&control->discarded, __ATOMIC_RELAXED);
    open_packet(ring, (struct packet_begin){start, now, discarded, events}, 0);
    /* release: pairs with the acquire in trace_reader_head() and read_state_of() */
    __atomic_store_n(&control->index,
                     trace_index_at(start + TRACE_PACKET_WORDS + TRACE_CONTEXT_WORDS, events) + 1,
                     __ATOMIC_RELEASE);
}

/* The limit is raised only when the event was reserved: otherwise two events could be too far apart. */
void trace_ring_heartbeat(void)
{
    struct reservation r;
    struct trace_slot slot;
    if (!reserve_at_length(&r, &slot, 2))
        return;
    trace_put_64(&slot, 0, r.discarded);
    trace_commit(&slot, TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_HEARTBEAT), 2);
    raise_limit(r.control, trace_time_limit(r.now));
}
