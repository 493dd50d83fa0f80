/*
 * trace/format/layout.h - the memory of the logging path: info page, control page, buffers.
 *
 * Only the kernel can write to the info page. Each CPU has a *ring*: its control page and its buffers,
 * readable and writable in every address space. The kernel masks every index from a control page with the
 * masks of the info page, so a hostile program can garble the trace but cannot make the kernel write outside
 * a ring.
 *
 *     ring of CPU n = PORT_TRACE_RINGS + (n << TRACE_RING_SHIFT)
 *       + TRACE_TABLES_OFFSET   tables of counters (table.h); trace_info.table_bytes of them are mapped
 *       + TRACE_CONTROL_OFFSET  struct trace_control
 *       + TRACE_BUFFERS_OFFSET  buffer 0, buffer 1, ...   (a power of two in all), then TRACE_SLACK_BYTES
 *
 * One pointer, to the first buffer, gives all, so a thread that migrates between two loads never mixes CPUs.
 * The addresses of rings and info page differ between kernel and programs (<arch/trace_rings.h>,
 * <port/trace.h>).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <trace/format/format.h>

#define TRACE_INFO_MAGIC   0x5461726e54726163ull /* "TarnTrac" */
#define TRACE_INFO_VERSION 3u
#define TRACE_CPUS_MAX     64u

#define TRACE_RING_SHIFT           30
#define TRACE_BUFFERS_OFFSET       0x200000ull /* 2 MiB: large pages can map the ring */
#define TRACE_CONTROL_OFFSET       (TRACE_BUFFERS_OFFSET - 4096)
#define TRACE_TABLES_OFFSET        0x100000ull
/* a page is left before the control page, so that no extent of a store has both (store.h) */
#define TRACE_TABLES_BYTES_MAX     (TRACE_CONTROL_OFFSET - 4096 - TRACE_TABLES_OFFSET)
/* Mapped behind the last buffer, because a program may corrupt a ring's bound: the longest event fits. */
#define TRACE_SLACK_BYTES          0x2000ull
#define TRACE_RING_BYTES_MAX       (1ull << 29)
#define TRACE_BUFFER_BYTES_DEFAULT (64u << 10)
#define TRACE_BUFFER_BYTES_MIN     (16u << 10) /* a packet must hold the longest event */
#define TRACE_BUFFER_BYTES_MAX     (4u << 20)

/* Until trace_init() the boot CPU's ring lies in the kernel's executable, in one piece. */
#define TRACE_BOOT_BUFFERS 4u

/* No clock of another CPU is this far ahead: half of the range of a 32-bit timestamp. */
#define TRACE_TIME_SPAN (1ull << 31)

#define TRACE_USER_LOCKS_MAX 16u
#define TRACE_LIMITED_MAX    60u /* types of the system's events that can be limited */

#define TRACE_APP_CLASSES     (TRACE_CLASS_COUNT - TRACE_CLASS_APP_FIRST)
#define TRACE_APP_LIMITED_MAX 16u /* types of events of one application's class that can be limited */
#define TRACE_APP_LIMITS      (TRACE_APP_CLASSES * TRACE_APP_LIMITED_MAX)

#define TRACE_CLOCK_SOURCES_BYTES 48u

#define TRACE_LOW_WATER_DEFAULT 50u /* percent; servers/traced/README.md has the measurements */

enum trace_mode {
    TRACE_MODE_FLIGHT = 0, /* overwrite the oldest buffer */
    TRACE_MODE_STREAM = 1, /* a consumer drains; events that find no free buffer are discarded */
    TRACE_MODE_ONCE = 2,   /* stop when the ring is full; later events are discarded */
};

struct trace_info {
    uint64_t mask; /* bit c: class c is on. Must be at offset 0 to keep the test at two instructions */
    uint64_t magic;
    uint32_t version;
    uint32_t cpu_count;
    uint64_t buffer_mask;  /* 64-bit words of a buffer, minus one */
    uint64_t ring_mask;    /* bytes of a ring, minus 8: from any byte offset to a word's offset in the ring */
    uint64_t buffer_count; /* buffers in a ring */
    uint32_t mode;         /* enum trace_mode */
    uint32_t generation;   /* + 1 when the rings are cleared */
    uint64_t clock_hz;
    int64_t clock_offset_ns; /* wall time (ns since 1970) at tick 0 */
    uint64_t window_shift;
    uint64_t buffers_offset;
    uint8_t uuid[16];     /* of the system's schema */
    uint64_t packet_mask; /* from a byte offset in the ring to the start of its buffer */
    /* By enum tarn_lock_class: a thread samples one of this many acquisitions; 0: none. */
    uint32_t lock_sample[TRACE_USER_LOCKS_MAX];
    uint32_t statedumps;       /* their number: a program with names of its own logs them again after each */
    uint32_t clock_is_certain; /* 1: two sources agree on the rate, or the architecture fixes it; else 0 */
    uint64_t geometry;         /* the three masks and buffer_count in one word: trace_geometry_word() */
    uint32_t clock_error_ppm;  /* upper bound of the error of clock_hz */
    char clock_sources[TRACE_CLOCK_SOURCES_BYTES]; /* what clock_hz is derived from: words, NUL padded */
    /* Bytes of a ring that was refused because the consumer held too many buffers; 0: none. The consumer
     * keeps at most a quarter of that. */
    uint64_t ring_wanted;
    /* By index in trace_limited: N (one in N is logged) or the threshold of a field; 0 or 1: all. */
    uint32_t event_limit[TRACE_LIMITED_MAX];
    /* Percent: in mode stream the consumer is woken when at most so much of a ring is free. */
    uint32_t low_water;
    uint32_t table_bytes; /* of the tables beside each ring; 0: there are none, or not yet */
    uint32_t routines; /* routines are counted (trace/format/routine.h): a of TRACE_OP_SET_ROUTINES; 0: not */
    uint8_t
        reserved[512 - 156 - 4 * TRACE_USER_LOCKS_MAX - TRACE_CLOCK_SOURCES_BYTES - 4 * TRACE_LIMITED_MAX];
    /* packet_seq_num that the consumer wants next; buffers before it are free */
    uint64_t consumed[TRACE_CPUS_MAX];
    uint64_t switches[TRACE_CLASS_COUNT]; /* bit m of word c: event (c, m) is on */
    /* As event_limit, by trace_app_limit_index(). */
    uint32_t app_limit[TRACE_APP_LIMITS];
    uint64_t routines_list; /* physical address of struct trace_routines_list (routine.h); 0: not yet */
};
_Static_assert(sizeof(struct trace_info) <= 4096, "the info page is one page");
_Static_assert(__builtin_offsetof(struct trace_info, consumed) == 512, "known to readers of memory dumps");

/* Index of a class's `limit`th limited type. Any number gives an index within the tables. */
static inline uint32_t trace_app_limit_index(uint32_t class_number, uint32_t limit)
{
    return (class_number - TRACE_CLASS_APP_FIRST) % TRACE_APP_CLASSES * TRACE_APP_LIMITED_MAX +
           limit % TRACE_APP_LIMITED_MAX;
}

/* The geometry of all rings in one word: bits 0 to 7 the binary logarithm of a buffer's 64-bit words, 8 to 15
 * that of a ring's buffers, 32 to 63 the number of set-ups, odd during one. Memory that was part of a ring
 * stays mapped, so an old word is safe; a reader that finds another one after copying discards the copy. */
static inline uint64_t trace_geometry_word(uint64_t buffer_bytes, uint64_t buffer_count, uint64_t changes)
{
    return changes << 32 | (uint64_t)__builtin_ctzll(buffer_count) << 8 |
           (uint64_t)__builtin_ctzll(buffer_bytes / 8);
}

static inline uint64_t trace_geometry_words(uint64_t geometry) /* of a buffer */
{
    return 1ull << (geometry & 0xff);
}

static inline uint64_t trace_geometry_buffers(uint64_t geometry)
{
    return 1ull << (geometry >> 8 & 0xff);
}

static inline uint32_t trace_geometry_changes(uint64_t geometry)
{
    return (uint32_t)(geometry >> 32);
}

static inline bool trace_geometry_is_changing(uint64_t geometry)
{
    return trace_geometry_changes(geometry) & 1;
}

/* Acquire: later reads of the rings see no older contents; pairs with the releases in start_over(). */
static inline uint64_t trace_geometry_of(const struct trace_info *info)
{
    return __atomic_load_n(&info->geometry, __ATOMIC_ACQUIRE);
}

static inline uint64_t trace_buffer_bytes(const struct trace_info *info)
{
    return trace_geometry_words(trace_geometry_of(info)) * 8;
}

/* For writers. While the page is shared, the caller stores `geometry` itself: as changing before, the new one
 * afterwards. */
static inline void trace_set_masks(struct trace_info *info, uint64_t buffer_bytes, uint64_t buffer_count)
{
    info->buffer_mask = buffer_bytes / 8 - 1;
    info->ring_mask = buffer_bytes * buffer_count - 8;
    info->packet_mask = info->ring_mask & ~(buffer_bytes - 1);
    info->buffer_count = buffer_count;
}

/* What the info page says of a system from its start on. The page is not shared yet. */
static inline void trace_info_begin(struct trace_info *info, uint32_t count, enum trace_mode mode,
                                    uint64_t buffer_bytes, uint64_t buffer_count, const uint8_t uuid[16])
{
    info->magic = TRACE_INFO_MAGIC;
    info->version = TRACE_INFO_VERSION;
    info->cpu_count = count;
    info->mode = mode;
    trace_set_masks(info, buffer_bytes, buffer_count);
    info->geometry = trace_geometry_word(buffer_bytes, buffer_count, 0);
    info->window_shift = TRACE_RING_SHIFT;
    info->buffers_offset = TRACE_BUFFERS_OFFSET;
    for (unsigned i = 0; i < sizeof(info->uuid); i++)
        info->uuid[i] = uuid[i];
}

/* packet_seq_num of a buffer without a packet: the ring was cleared. */
#define TRACE_NO_PACKET (~0ull)

/*
 * `committed` in memory, in the open packet. TRACE_IN_ORDER: every event below the index is complete
 * (restart.h). Otherwise writers count the words that they have written (cas.h): the low half counts this
 * packet's words. The high half is 0 unless the packet inherits uncommitted words of earlier laps, whose
 * writers may store over it at any time: then it has their number (modulo 2^22), and since when they are
 * uncommitted (modulo 2^9, in units of 2^25 ticks). FORMAT.md, "Late writers".
 */
#define TRACE_IN_ORDER               (~0ull)
#define TRACE_UNCOMMITTED_MARK       (1ull << 63)
#define TRACE_UNCOMMITTED_COUNT_BITS 22u
#define TRACE_UNCOMMITTED_TIME_BITS  9u
#define TRACE_UNCOMMITTED_UNIT       25u

/* A writer that leaves words uncommitted for longer than this counts as dead: for consumers, which then cut
 * the packet, and for change_buffer(), which writes the words off. It must be the same time for both, and fit
 * in TRACE_UNCOMMITTED_TIME_BITS, which count 2^34 ticks: 3.4 seconds at 5 GHz. */
#define TRACE_PATIENCE_SECONDS 2u

static inline bool trace_in_doubt(uint64_t committed)
{
    return committed >> 32 && committed != TRACE_IN_ORDER;
}

#define TRACE_SUMS 256u /* a power of two */

/* The index of a ring (FORMAT.md, "The ring in memory"). Bits 0 to 20: events since boot, modulo 2^20; bit 20
 * takes the carry within a packet, and a new packet begins without it. Bits 21 to 62: the next free 64-bit
 * word since boot. Bit 63, TRACE_INDEX_CLOSED: the ring was full, and no packet is open. */
#define TRACE_INDEX_CLOSED ((uint64_t)1 << 63)
#define TRACE_INDEX_SHIFT  21u
#define TRACE_INDEX_EVENTS ((1ull << TRACE_INDEX_SHIFT) - 1)
#define TRACE_EVENTS_KEPT  ((1ull << 20) - 1) /* of the count, by a new packet */

/* An event of `words` words adds this to the index. */
#define TRACE_INDEX_STEP(words) ((uint64_t)(words) << TRACE_INDEX_SHIFT | 1)

static inline uint64_t trace_index_words(uint64_t index)
{
    return (index & ~TRACE_INDEX_CLOSED) >> TRACE_INDEX_SHIFT;
}

static inline uint64_t trace_index_at(uint64_t words, uint64_t events)
{
    return words << TRACE_INDEX_SHIFT | (events & TRACE_EVENTS_KEPT);
}

/* The largest index that leaves a word for the end of the packet that holds word `words`; a ring's `bound`.
 */
static inline uint64_t trace_index_bound(uint64_t words, uint64_t buffer_mask)
{
    return (words | buffer_mask) << TRACE_INDEX_SHIFT | TRACE_INDEX_EVENTS;
}

/* All events since boot, from an index and an earlier or slightly later count of them. */
static inline uint64_t trace_index_events(uint64_t index, uint64_t about)
{
    const uint64_t first = about - (TRACE_EVENTS_KEPT + 1) / 4;
    return first + ((index - first) & TRACE_EVENTS_KEPT);
}

/* The first word of the buffer that the index is in; if none is open, of the next one. `words`: of a buffer.
 */
static inline uint64_t trace_index_head_start(uint64_t index, uint64_t words)
{
    const uint64_t start = trace_index_words(index) & ~(words - 1);
    return index & TRACE_INDEX_CLOSED ? start + words : start;
}

/* Words of the open packet, header included; 0: none is open. */
static inline uint64_t trace_index_open_words(uint64_t index, uint64_t words)
{
    return index & TRACE_INDEX_CLOSED ? 0 : trace_index_words(index) & (words - 1);
}

/* An *era* of a ring lies between two changes of sizes: its packets, of the same size, lie one after another
 * from word `start` on, and are numbered from `number` on. */
struct trace_era {
    uint64_t number, start;
    uint64_t words; /* of a buffer; 0: no era */
};
#define TRACE_ERAS 8u

struct trace_control {
    /* Checksums of the newest whole packets, at number % TRACE_SUMS: trace_sum_entry() of sum.h, or 0. The
     * kernel writes them without the writers' knowledge: not of every packet, and never of the open one. */
    uint64_t sums[TRACE_SUMS];
    uint32_t skipped[TRACE_LIMITED_MAX]; /* by the same index: events since the last one that was logged */
    /* The newest first; packets before the oldest one are gone. None: all packets since boot have the
     * geometry's size. Only the kernel changes them, while the geometry is odd. */
    struct trace_era eras[TRACE_ERAS];
    uint32_t app_skipped[TRACE_APP_LIMITS]; /* as skipped, by trace_app_limit_index() */
    uint64_t reserved[249 - TRACE_LIMITED_MAX / 2 - TRACE_ERAS * 3 - TRACE_APP_LIMITS / 2];
    uint64_t discarded_at; /* ticks: when an event last found no free buffer; 0: none did */
    uint64_t events;       /* logged since boot, when the open packet began */
    uint64_t torn;         /* words of earlier laps that were uncommitted when their buffer was reused */
    uint64_t discarded;    /* events that found no free buffer, since boot */
    /* Ticks: a writer past it logs a heartbeat or starts a new packet, because the event's 32-bit timestamp
     * could be misread. Its low half is all ones: a comparison of upper halves is enough. */
    uint64_t time_limit;
    uint64_t bound; /* an index beyond it takes the slow path; 0: all do */
    uint64_t index;
};
_Static_assert(sizeof(struct trace_control) == 4096, "the control page is one page");

/* The time limit after an event at that time: until then an upper half counts from the event's. */
static inline uint64_t trace_time_limit(uint64_t time)
{
    return time | 0xffffffffu;
}

/* Offset of one of its words from the ring. */
#define TRACE_CONTROL_AT(field) (TRACE_CONTROL_OFFSET + __builtin_offsetof(struct trace_control, field))

static inline struct trace_control *trace_control_of(const char *ring)
{
    return (struct trace_control *)(uintptr_t)(ring + TRACE_CONTROL_OFFSET);
}
