/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/model/genmc/harness.h - what both harnesses share: rings, clock, and a reader that checks what it reads.
 *
 * Included after the code under test. Sizes are -D of `prove`.
 */
/* GenMC's */
int __VERIFIER_thread_create(const void *attributes, void *(*function)(void *), void *argument);
void *__VERIFIER_thread_join(long thread);
void __VERIFIER_assume(bool holds);
void __VERIFIER_assert_fail(const char *text, const char *file, int line);

#define WORDS 16u /* of a buffer: header 8, context 1, END 1, and 6 for events */
#ifndef BUFFERS
#define BUFFERS 2u
#endif

#define GEOMETRY(changes) ((uint64_t)(changes) << 32 | (BUFFERS / 2) << 8 | 4)
_Static_assert(WORDS == 1u << 4 && (BUFFERS == 2 || BUFFERS == 4), "written out in GEOMETRY");

INFO_CONST struct trace_info info_page = {
    .buffer_mask = WORDS - 1,
    .ring_mask = WORDS * 8 * BUFFERS - 8,
    .packet_mask = (WORDS * 8 * BUFFERS - 8) & ~(WORDS * 8ull - 1),
    .buffer_count = BUFFERS,
#ifdef STREAM
    .mode = TRACE_MODE_STREAM,
#endif
    .cpu_count = 1,
    .geometry = GEOMETRY(0),
};
char ring_memory[2 * RING_BYTES] __attribute__((aligned(4096)));
__thread int cpu;

/* Each assertion names its property. */
#define CHECK(property, holds) ((holds) ? (void)0 : __VERIFIER_assert_fail(property, __FILE__, __LINE__))
/* what a reader accepts are whole events of its packet */
#define TORN(holds)    CHECK("TORN", holds)
/* times do not decrease, and a thread's events are in its order */
#define ORDER(holds)   CHECK("ORDER", holds)
/* a packet's counts agree with what is before it */
#define COUNTS(holds)  CHECK("COUNTS", holds)
/* when all is quiet every packet of the ring is readable */
#define MISSING(holds) CHECK("MISSING", holds)

/* ---- clock ---------------------------------------------------------------------------------------- */

static uint64_t ticks[2] = {100, 100};

uint64_t read_clock(void)
{
#ifdef SHARED_CLOCK
    return __atomic_fetch_add(&ticks[0], 1, __ATOMIC_RELAXED);
#else
    return ticks[cpu]++;
#endif
}

/* ---- events --------------------------------------------------------------------------------------- */

/* An event is named by its thread and its number there; names of even numbers have a data word. */
#define NAME(thread, number) ((thread) * 8u + (number))
#define EVENT_WORDS(name)    ((name) % 2 ? 1u : 2u)
#define EVENT_ID(name)       TRACE_ID(1, name)
#define EVENT_DATA(name)     (0x100u + (name))

/* ---- reader --------------------------------------------------------------------------------------- */

static const struct trace_packet *packet_of(const uint64_t *copy)
{
    return (const struct trace_packet *)copy;
}

/* Checks the events of a packet that the reader accepts. Returns their number, the context included. */
static unsigned check_packet(const uint64_t *copy)
{
    const struct trace_packet *packet = packet_of(copy);
    struct trace_walk walk = trace_walk_of((const char *)copy, packet->timestamp_begin,
                                           packet->content_size / 64, packet->timestamp_end);
    uint64_t last = 0; /* of each thread: 8 bits */
    unsigned count = 0;
    bool is_ended = false;
    for (;;) {
        const uint64_t at = walk.position;
        const struct trace_header *event = trace_walk_next(&walk);
        if (!event)
            break;
        const struct trace_header header = trace_header_of(true, copy[at]);
        if (count == 0) {
            TORN(header.id == TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_CONTEXT));
        } else if (header.id == TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_END)) {
            is_ended = true;
            break;
        } else if (header.id == TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_HEARTBEAT)) {
            TORN(header.length == 2);
        } else {
            const unsigned name = TRACE_ID_MINOR(header.id), thread = name & 0x38;
            TORN(TRACE_ID_CLASS(header.id) == 1 && header.length == EVENT_WORDS(name));
            TORN(header.length == 1 || copy[at + 1] == EVENT_DATA(name));
            ORDER(name % 8 > (last >> thread & 0xff));
            last = (last & ~(0xffull << thread)) | (uint64_t)(name % 8) << thread;
        }
        count++;
    }
    ORDER(!walk.broken);
    TORN(is_ended && walk.position * 64 == packet->content_size);
    ORDER(walk.time == packet->timestamp_end);
    return count;
}

static struct trace_reader reader_of_ring(void)
{
    return trace_reader_open(&info_page, ring_memory, 0, 10000);
}

/* Reads packet `number` as the trace server does, and checks it. Returns the number of its events; 0: it is not
 * readable. */
static unsigned read_packet(const struct trace_reader *reader, uint64_t number, uint64_t *copy)
{
    const enum trace_packet_state state = trace_packet_copy(reader, number, copy);
    if (state == TRACE_PACKET_INCOMPLETE && !trace_packet_cut(reader, number, copy))
        return 0;
    if (state != TRACE_PACKET_WHOLE && state != TRACE_PACKET_INCOMPLETE)
        return 0;
    TORN(packet_of(copy)->packet_seq_num == number);
    return check_packet(copy);
}

static unsigned read_snapshot(const struct trace_reader *reader, uint64_t *copy)
{
    return trace_packet_snapshot(reader, copy) ? check_packet(copy) : 0;
}

/* When all is quiet: each packet that is in the ring is whole, or open and its snapshot complete; counts go on
 * from packet to packet. `events`: what was logged, discarded ones included. */
static void check_quiet(unsigned events)
{
    static uint64_t copy[WORDS];
    const struct trace_reader reader = reader_of_ring();
    uint64_t number = trace_reader_oldest(&reader), head = trace_reader_head(&reader), sum = 0;
    bool is_first = true;
    for (; number <= head; number++) {
        const bool is_open = number == head;
        if (is_open && !trace_index_open_words(trace_control_of(ring_memory)->index, WORDS))
            break; /* the ring is full: none is open */
        const unsigned count = is_open ? read_snapshot(&reader, copy) : read_packet(&reader, number, copy);
        MISSING(count && !(packet_of(copy)->flags & TRACE_PACKET_CUT));
        COUNTS(is_first || packet_of(copy)->events_before == sum);
        sum = packet_of(copy)->events_before + count;
        is_first = false;
    }
    /* contexts and heartbeats are events, too: those of packets that are gone are not known here */
    COUNTS(sum + trace_control_of(ring_memory)->discarded >= events);
}
