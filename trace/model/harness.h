/*
 * trace/model/harness.h - shared by both harnesses: rings, clock, and a reader that checks
 * packets.
 *
 * Included after the code under test. Sizes are -D of `prove`.
 */
/* GenMC's */
int __VERIFIER_thread_create(const void *attributes, void *(*function)(void *), void *argument);
void *__VERIFIER_thread_join(long thread);
void __VERIFIER_assume(bool holds);
void __VERIFIER_assert_fail(const char *text, const char *file, int line);

#define WORDS 16u /* of a buffer: header 8, context 1, END 1, and 6 for events */
#ifndef BUFFERS_LOG
#define BUFFERS_LOG 1
#endif
#define BUFFERS (1u << BUFFERS_LOG)

#define GEOMETRY(changes) ((uint64_t)(changes) << 32 | BUFFERS_LOG << 8 | 4)
_Static_assert(WORDS == 1u << 4, "written out in GEOMETRY");

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
/* Fields that no packet changes are there from the start (format.h). */
struct memory {
    char before[TRACE_BUFFERS_OFFSET];
    struct {
        struct trace_packet packet;
        uint64_t events[WORDS - TRACE_PACKET_WORDS];
    } buffers[BUFFERS];
    char after[RING_BYTES - TRACE_BUFFERS_OFFSET - WORDS * 8 * BUFFERS];
};
#define BUFFER                                 \
    {                                          \
        .packet = {.packet_size = WORDS * 64 } \
    }
static struct memory ring_memory[2]
    __attribute__((aligned(4096))) = {[0 ... 1] = {.buffers = {[0 ... BUFFERS - 1] = BUFFER}}};
_Static_assert(sizeof(struct memory) == RING_BYTES, "rings are where the port says");
#define RING ((char *)ring_memory)
char *ring_of(int of_cpu)
{
    return (char *)(ring_memory + of_cpu);
}
__thread int cpu;

/* Each assertion names its property. */
#define CHECK(property, holds) ((holds) ? (void)0 : __VERIFIER_assert_fail(property, __FILE__, __LINE__))
/* a reader accepts only whole events of its packet */
#define TORN(holds)            CHECK("TORN", holds)
/* times do not decrease, and a thread's events are in its order */
#define ORDER(holds)           CHECK("ORDER", holds)
/* a packet's counts agree with the events before it */
#define COUNTS(holds)          CHECK("COUNTS", holds)
/* when all is quiet every packet of the ring is readable */
#define MISSING(holds)         CHECK("MISSING", holds)
/* of restart.h: a packet that the index has left is whole, and an open one's snapshot is not cut; of cas.h: a
 * packet with a full count is whole */
#define READY(holds)           CHECK("READY", holds)
#ifdef TRACE_CAS
#define IS_CAS true
#else
#define IS_CAS false
#endif

#ifdef EVERY
/* What a run logged; a packet's count of losses holds those before its first event, none lies inside. */
static struct ghost {
    uint64_t committed, now, times[64]; /* now: of the clock when it was last read; times: by name */
} ghost;
#define EVENT(holds) CHECK("EVENT", holds)
#define LOSS(holds)  CHECK("LOSS", holds)
#define TIMES(holds) CHECK("TIMES", holds)
#define LATEST       (1ull << 40)
#define EARLIER      (TRACE_EVENTS_KEPT - 3) /* events: the count in the index wraps soon */
#else
#define LATEST  10000
#define EARLIER 0
#endif

/* ---- clock ---------------------------------------------------------------------------------------- */

static uint64_t ticks[2] = {100, 100};

uint64_t read_clock(void)
{
#ifdef SHARED_CLOCK
    return __atomic_fetch_add(&ticks[0], 1, __ATOMIC_RELAXED);
#else
#ifdef EVERY
    ghost.now = ticks[cpu];
#endif
    return ticks[cpu]++;
#endif
}

/* ---- events --------------------------------------------------------------------------------------- */

/* An event is named by its thread and its number there; names of even numbers have a data word. */
#define NAME(thread, number) ((thread)*8u + (number))
#define EVENT_WORDS(name)    ((name) % 2 ? 1u : 2u)
#define EVENT_ID(name)       TRACE_ID(1, name)
#define EVENT_DATA(name)     (0x100u + (name))

static void log_event(unsigned name);

/* A thread's actions, in letters: l and L log an event of one word and of two, F flushes, B is a heartbeat.
 */
static unsigned follow(const char *script, unsigned thread)
{
    unsigned name = NAME(thread, 0), count = 0;
    for (; *script; script++) {
        switch (*script) {
        case 'l':
        case 'L':
            name += (*script == 'l') == name % 2 ? 2 : 1;
            log_event(name);
            count++;
            break;
        case 'F':
            trace_ring_flush(RING);
            break;
        default:
            trace_ring_heartbeat();
            count++;
        }
    }
    return count;
}

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
#ifdef EVERY
            TIMES(ghost.times[name] == walk.time);
#endif
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
    return trace_reader_open(&info_page, RING, 0, LATEST);
}

/* Reads packet `number` as the trace server does, and checks it. Returns the number of its events; 0: it is
 * not readable. */
static unsigned read_packet(const struct trace_reader *reader, uint64_t number, uint64_t *copy)
{
    const bool is_full = !IS_CAS || trace_packet_state(reader, number) == TRACE_PACKET_WHOLE;
    const enum trace_packet_state state = trace_packet_copy(reader, number, copy);
    READY(!is_full || state != TRACE_PACKET_INCOMPLETE || !trace_reader_is_current(reader));
#ifdef STREAM
    READY(state != TRACE_PACKET_GONE); /* it is not consumed */
#endif
    if (state == TRACE_PACKET_INCOMPLETE && !trace_packet_cut(reader, number, copy))
        return 0;
    if (state != TRACE_PACKET_WHOLE && state != TRACE_PACKET_INCOMPLETE)
        return 0;
    TORN(packet_of(copy)->packet_seq_num == number);
    COUNTS(number > 0 ||
           (packet_of(copy)->events_before == EARLIER && packet_of(copy)->events_discarded == 0));
    return check_packet(copy);
}

static unsigned read_snapshot(const struct trace_reader *reader, uint64_t *copy)
{
    const uint64_t head = trace_reader_head(reader), words = trace_open_words(reader);
    if (trace_packet_snapshot(reader, copy)) {
        READY(IS_CAS || !(packet_of(copy)->flags & TRACE_PACKET_CUT));
        return check_packet(copy);
    }
    READY(IS_CAS || !words || trace_reader_head(reader) != head ||
          trace_geometry_is_changing(reader->geometry) || !trace_reader_is_current(reader));
    return 0;
}

#ifdef READ_IN_PLACE
/* As the kernel's dump: walks the open packet where it lies, up to what is reserved. */
static void walk_in_place(const struct trace_reader *reader)
{
    const char *packet = (const char *)trace_packet_at(reader, 0);
    struct trace_walk walk = trace_walk_of(
        packet, 100, TRACE_PACKET_WORDS + TRACE_CONTEXT_WORDS + trace_open_words(reader), 10000);
    const struct trace_header *event;
    while ((event = trace_walk_next(&walk))) {
        const uint64_t *words = (const uint64_t *)event;
        const struct trace_header header = trace_header_of(true, words[0]);
        const unsigned name = TRACE_ID_MINOR(header.id);
        if (TRACE_ID_CLASS(header.id) == 1)
            TORN(header.length == EVENT_WORDS(name) && (header.length == 1 || words[1] == EVENT_DATA(name)));
    }
}
#endif

/* When all is quiet: each packet from `first` on that is in the ring is whole, or open and its snapshot
 * complete; counts go on from packet to packet. `events`: logged and discarded ones. */
static void check_quiet(uint64_t first, unsigned events)
{
    static uint64_t copy[WORDS];
    const struct trace_reader reader = reader_of_ring();
    const uint64_t head = trace_reader_head(&reader), oldest = trace_reader_oldest(&reader);
    uint64_t sum = 0;
    bool is_first = true;
    for (uint64_t number = oldest > first ? oldest : first; number <= head; number++) {
        const bool is_open = number == head;
        if (is_open && !trace_index_open_words(trace_control_of(RING)->index, WORDS))
            break; /* the ring is full: none is open */
        const unsigned count = is_open ? read_snapshot(&reader, copy) : read_packet(&reader, number, copy);
        MISSING(count && !(packet_of(copy)->flags & TRACE_PACKET_CUT));
        COUNTS(is_first || packet_of(copy)->events_before == sum);
        sum = packet_of(copy)->events_before + count;
        is_first = false;
    }
    const uint64_t discarded = trace_control_of(RING)->discarded;
#if (defined CLEAR && !defined RESIZE) || \
    defined BEATS /* nothing counts packets before a clear, or heartbeats */
    COUNTS(sum + discarded >= EARLIER + events);
#else
    /* each packet has a context, which is an event; a thread that migrated may have logged on CPU 1 */
    const uint64_t all = EARLIER + events + trace_index_words(trace_control_of(RING)->index) / WORDS + 1;
#ifdef MIGRATE
    COUNTS(sum + discarded == all || sum + discarded + 1 == all);
#else
    COUNTS(sum + discarded == all);
#endif
#endif
}

/* ---- threads -------------------------------------------------------------------------------------- */

#ifndef BEFORE
#define BEFORE "" /* script that runs before the threads begin */
#endif

#ifdef READS
static uint64_t copied[WORDS];

static void *reading(void *unused)
{
    const struct trace_reader reader = reader_of_ring();
#ifdef READ_IN_PLACE
    walk_in_place(&reader);
#elif defined READ_SNAPSHOT
    read_snapshot(&reader, copied);
#else
    if (!read_packet(&reader, READS, copied))
        return unused;
#ifdef STREAM
    __atomic_store_n(&info_page.consumed[0], READS + 1, __ATOMIC_RELEASE); /* as sys_trace_consume() */
#endif
#endif
    return unused;
}
#endif
