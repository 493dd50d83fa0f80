/*
 * trace/ring/restart.c - the kernel's part of restartable logging: packets, a full ring, heartbeats.
 *
 * Everything here runs on the ring's CPU with interrupts off, except trace_ring_open before that CPU logs. So
 * only an interrupt that cannot be masked may come in between. While a ring is being changed its bound is 0:
 * the event of such an interrupt asks for space, finds the ring busy, and is counted as discarded.
 *
 * Nothing in the control page is trusted: a program may have changed any word. Every place is masked by the
 * info page, and no loop depends on the control page.
 */
#include <trace/ring/packet.h>
#include <trace/ring/restart.h>
#include <trace/ring/ring.h>

#define OWN_WORDS       (TRACE_PACKET_WORDS + TRACE_CONTEXT_WORDS)
#define HEARTBEAT_WORDS 2u

/* A program that keeps changing the control page makes a block ask again and again. After so many times, each
 * so soon after the one before, its event is given up. */
#define GRANTS_MAX  100u
#define GRANT_TICKS (1u << 12)
/* Losses while a ring is being left, after each of which its packet ends. Behind the last one the bound stays
 * 0, and the next block asks. */
#define LEAVES_MAX  4u

static struct state {
    bool busy;        /* being changed */
    bool stopped;     /* trace_ring_stop: nothing is logged, all is counted as discarded */
    uint32_t grants;  /* in a row */
    uint64_t granted; /* when the last one was */
    uint64_t time; /* of the last event that is known to be in the open packet: its begin, or a heartbeat */
} states[TRACE_CPUS_MAX];

static void set_bound(char *ring, uint64_t bound)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&trace_control_of(ring)->bound, bound, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Between this and leave() no block on this CPU gets further than its bound. */
static bool enter(char *ring)
{
    if (states[arch_trace_cpu(ring)].busy)
        return false;
    states[arch_trace_cpu(ring)].busy = true;
    set_bound(ring, 0);
    return true;
}

/* Atomic, because an NMI counts, too. Release: a reader that sees the count sees no earlier time; pairs with
 * the acquire of ring_load() in read.c. */
static void count_discarded(char *ring)
{
    struct trace_control *control = trace_control_of(ring);
    __atomic_store_n(&control->discarded_at, arch_trace_clock(), __ATOMIC_RELAXED);
    __atomic_fetch_add(&control->discarded, 1, __ATOMIC_RELEASE);
}

/* Also if a program has set another limit: a block that compares halves would ask for ever. */
static bool is_late(const char *ring, uint64_t now)
{
    return trace_control_of(ring)->time_limit != trace_time_limit(now);
}

/* ---- packets -------------------------------------------------------------------------------------- */

/* Closes the open packet, if there is one. If the clock has passed the limit, the low halves of the times may
 * have wrapped unnoticed since the last event; the limit is not earlier than any event of the packet, and
 * less than 2^32 ticks after the last one, so the packet ends there. */
static void close(char *ring, uint64_t index, uint64_t now)
{
    const uint64_t limit = trace_control_of(ring)->time_limit;
    if (index & TRACE_INDEX_CLOSED)
        return;
    struct trace_packet *packet = packet_end(ring, trace_index_words(index), now < limit ? now : limit);
    /* release: pairs with the acquire in trace_packet_state() */
    __atomic_store_n(&packet->committed, arch_trace_info()->buffer_mask + 1, __ATOMIC_RELEASE);
}

/* Opens the packet that begins at word `start`. */
static void open(char *ring, uint64_t start, uint64_t events, uint64_t now)
{
    struct trace_control *control = trace_control_of(ring);
    const uint64_t index = trace_index_at(start, events);
    /* Announces that the buffer's earlier packet is gone. Release: the packet before is closed. */
    __atomic_store_n(&control->index, index, __ATOMIC_RELEASE);
    /* The announcement before the stores that overwrite the packet: pairs with the acquire fence of
     * trace_packet_copy(). */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    control->events = events;
    struct trace_packet *packet =
        packet_begin(ring, (struct packet_begin){start, now, control->discarded, events});
    packet->committed = TRACE_IN_ORDER;
    packet->packet_seq_num = packet_number(ring, start);
    control->time_limit = trace_time_limit(now);
    states[arch_trace_cpu(ring)].time = now;
    /* Release: a reader that sees the open packet sees its header. */
    __atomic_store_n(&control->index, index + TRACE_INDEX_STEP(OWN_WORDS), __ATOMIC_RELEASE);
}

static uint64_t next_start(uint64_t index)
{
    return (trace_index_words(index) | arch_trace_info()->buffer_mask) + 1;
}

static bool next_is_free(char *ring, uint64_t index)
{
    return packet_is_free(ring, next_start(index));
}

/* Closes the open packet and opens the next. */
static void change(char *ring, uint64_t index, uint64_t now)
{
    const uint64_t events = trace_index_events(index, trace_control_of(ring)->events);
    close(ring, index, now);
    open(ring, next_start(index), events, now);
}

/* Closes the open packet without opening another. */
static void close_ring(char *ring, uint64_t index, uint64_t now)
{
    close(ring, index, now);
    /* release: the packet is closed */
    __atomic_store_n(&trace_control_of(ring)->index,
                     (next_start(index) - 1) << TRACE_INDEX_SHIFT | (index & TRACE_INDEX_EVENTS) |
                         TRACE_INDEX_CLOSED,
                     __ATOMIC_RELEASE);
}

/* Goes on in the next buffer. False: the ring is full, and its open packet ends with the first loss. */
static bool advance(char *ring, uint64_t index, uint64_t now)
{
    if (next_is_free(ring, index)) {
        change(ring, index, now);
        return true;
    }
    close_ring(ring, index, now);
    return false;
}

/* Lets blocks log again. `busy` is cleared first: an NMI that finds no space makes some, instead of counting
 * a loss behind the look at `discarded`. A bound stored here after such an NMI is old and too low: harmless.
 * False: an NMI lost an event, and its packet was ended, so that no loss lies inside one. */
static bool try_leave(char *ring)
{
    struct trace_control *control = trace_control_of(ring);
    struct state *state = &states[arch_trace_cpu(ring)];
    const uint64_t mask = arch_trace_info()->buffer_mask;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    state->busy = false;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    const uint64_t index = control->index, discarded = control->discarded;
    if (index & TRACE_INDEX_CLOSED || state->stopped)
        return true;
    struct trace_packet *packet = packet_place(ring, trace_index_words(index)).packet;
    if (trace_index_open_words(index, mask + 1) <= OWN_WORDS) {
        packet->events_discarded = discarded;
    } else if (packet->events_discarded != discarded) {
        if (enter(ring))
            advance(ring, control->index, arch_trace_clock());
        return false;
    }
    set_bound(ring, trace_index_bound(trace_index_words(index), mask));
    return true;
}

static void leave(char *ring)
{
    for (unsigned i = 0; i < LEAVES_MAX && !try_leave(ring); i++)
        ;
    states[arch_trace_cpu(ring)].busy = false;
}

/* ---- events that the kernel writes itself --------------------------------------------------------- */

static bool has_space(uint64_t index, uint64_t words)
{
    const uint64_t bound = trace_index_bound(trace_index_words(index), arch_trace_info()->buffer_mask);
    return !(index & TRACE_INDEX_CLOSED) && index + TRACE_INDEX_STEP(words) <= bound;
}

static void append_heartbeat(char *ring, uint64_t index, uint64_t now)
{
    struct trace_control *control = trace_control_of(ring);
    const struct trace_slot slot = packet_place(ring, trace_index_words(index));
    *(uint64_t *)(slot.event + 8) = control->discarded;
    packet_store_event(slot.event, TRACE_MINOR_HEARTBEAT, HEARTBEAT_WORDS, now);
    control->time_limit = trace_time_limit(now);
    states[arch_trace_cpu(ring)].time = now;
    /* release: the event before the index */
    __atomic_store_n(&control->index, index + TRACE_INDEX_STEP(HEARTBEAT_WORDS), __ATOMIC_RELEASE);
}

/* Whether the time since the last event of the open packet is certainly less than 2^32 ticks. */
static bool is_near(const char *ring, uint64_t now)
{
    return now - states[arch_trace_cpu(ring)].time <= 0xffffffffu;
}

/* ---- the kernel's calls --------------------------------------------------------------------------- */

static bool asks_too_often(const char *ring, uint64_t now)
{
    struct state *state = &states[arch_trace_cpu(ring)];
    state->grants = now - state->granted < GRANT_TICKS ? state->grants + 1 : 1;
    state->granted = now;
    if (state->grants <= GRANTS_MAX)
        return false;
    state->grants = 0;
    return true;
}

/* Whether an NMI has made space since the block asked: the longest event fits into a packet without events.
 */
static bool is_new(uint64_t index)
{
    return !(index & TRACE_INDEX_CLOSED) &&
           trace_index_open_words(index, arch_trace_info()->buffer_mask + 1) == OWN_WORDS;
}

static bool make_space(char *ring)
{
    const uint64_t index = trace_control_of(ring)->index, now = arch_trace_clock();
    if (asks_too_often(ring, now))
        return false;
    if (is_late(ring, now) && is_near(ring, now) && has_space(index, HEARTBEAT_WORDS)) {
        append_heartbeat(ring, index, now);
        return true;
    }
    return (!is_late(ring, now) && is_new(index)) || advance(ring, index, now);
}

bool trace_ring_make_space(void)
{
    char *ring = arch_trace_ring();
    if (states[arch_trace_cpu(ring)].stopped || !enter(ring)) {
        /* The ring's interrupted change may not have come this far: no shorter event may follow this loss. */
        set_bound(ring, 0);
        count_discarded(ring);
        return false;
    }
    /* The answer stays, also if leave() makes space: the event has been counted. */
    const bool is_made = make_space(ring);
    if (!is_made)
        count_discarded(ring);
    leave(ring);
    return is_made;
}

bool trace_ring_flush(char *ring)
{
    const uint64_t size = arch_trace_info()->buffer_mask + 1;
    if (states[arch_trace_cpu(ring)].stopped || !enter(ring))
        return false;
    const uint64_t index = trace_control_of(ring)->index;
    /* more than a context, and a place to go on */
    const bool may = trace_index_open_words(index, size) > OWN_WORDS && next_is_free(ring, index);
    if (may)
        change(ring, index, arch_trace_clock());
    leave(ring);
    return may;
}

void trace_ring_heartbeat(void)
{
    char *ring = arch_trace_ring();
    if (states[arch_trace_cpu(ring)].stopped || !enter(ring))
        return;
    const uint64_t now = arch_trace_clock(), index = trace_control_of(ring)->index;
    if ((is_near(ring, now) && has_space(index, HEARTBEAT_WORDS)) || advance(ring, index, now))
        append_heartbeat(ring, trace_control_of(ring)->index, now);
    leave(ring);
}

bool trace_ring_is_busy(void)
{
    return states[arch_trace_cpu(arch_trace_ring())].busy;
}

void trace_ring_stop(char *ring)
{
    states[arch_trace_cpu(ring)].stopped = true;
    set_bound(ring, 0);
    close_ring(ring, trace_control_of(ring)->index, arch_trace_clock());
}

void trace_ring_go_on(char *ring)
{
    states[arch_trace_cpu(ring)].busy = true;
    states[arch_trace_cpu(ring)].stopped = false;
    const uint64_t index = trace_control_of(ring)->index;
    if (next_is_free(ring, index))
        change(ring, index, arch_trace_clock());
    leave(ring);
}

void trace_ring_open(char *ring, uint64_t start)
{
    struct trace_control *control = trace_control_of(ring);
    states[arch_trace_cpu(ring)].busy = true;
    set_bound(ring, 0);
    const uint64_t events = trace_index_events(control->index, control->events);
    open(ring, start, events, arch_trace_clock());
    states[arch_trace_cpu(ring)].stopped = false;
    leave(ring);
}
