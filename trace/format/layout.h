/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/format/layout.h - what the logging path finds in memory: info page, control page, window.
 *
 * Who maps what (DESIGN 2): the info page is read-only for everyone but the kernel; each processor has a
 * *window* with its control page and its buffers, readable and writable in every address space. Nothing
 * that lies in a window is believed by the kernel: an index taken from it is always confined by masks
 * from the info page, so a hostile program can garble the trace but never make anyone write outside it.
 *
 *     window of processor n = TRACE_WINDOWS + (n << TRACE_WINDOW_SHIFT)
 *       + 0                     struct trace_control
 *       + TRACE_BUFFERS_OFFSET  buffer 0, buffer 1, ...   (ring, power of two)
 *
 * One pointer names both, so that a thread that migrates between two loads never mixes processors.
 * TRACE_WINDOWS and TRACE_INFO differ between kernel and user and come from <arch/trace.h>.
 */
#ifndef TRACE_LAYOUT_H
#define TRACE_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>
#include <trace/format/format.h>

#define TRACE_INFO_MAGIC   0x5461726e54726163ull /* "TarnTrac" */
#define TRACE_INFO_VERSION 2u
#define TRACE_CPUS_MAX     64u

#define TRACE_WINDOW_SHIFT         30
#define TRACE_BUFFERS_OFFSET       0x200000ull /* 2 MiB: large pages can map the ring */
#define TRACE_RING_BYTES_MAX       (1ull << 29)
#define TRACE_BUFFER_BYTES_DEFAULT (64u << 10)
#define TRACE_BUFFER_BYTES_MIN     (16u << 10) /* a packet must hold the longest event */
#define TRACE_BUFFER_BYTES_MAX     (4u << 20)

#define TRACE_USER_LOCKS_MAX 16u

#define TRACE_CLOCK_SOURCES_BYTES 48u

enum trace_mode {
    TRACE_MODE_FLIGHT = 0, /* overwrite the oldest buffer */
    TRACE_MODE_STREAM = 1, /* a consumer drains; events that find no room are counted as discarded */
    TRACE_MODE_ONCE = 2,   /* stop when the ring is full; what follows is counted as discarded */
};

/* The info page. Written by the kernel only; user space maps it read-only. */
struct trace_info {
    uint64_t mask; /* bit c: class c is on. At offset 0: the test must stay two instructions */
    uint64_t magic;
    uint32_t version;
    uint32_t cpu_count;
    uint64_t buffer_mask;  /* 64-bit words of a buffer, minus one */
    uint64_t ring_mask;    /* 64-bit words of a ring, minus one */
    uint64_t buffer_count; /* buffers in a ring */
    uint32_t mode;         /* enum trace_mode */
    uint32_t generation;   /* + 1 whenever geometry changes or a ring is cleared */
    uint64_t clock_hz;
    int64_t clock_offset_ns; /* wall time (ns since 1970) at tick 0 */
    uint64_t window_shift;
    uint64_t buffers_offset;
    uint8_t uuid[16];     /* of the system's schema */
    uint64_t packet_mask; /* from bytes behind the ring's start to the start of their buffer */
    /* By enum tarn_lock_class: of so many acquisitions a thread logs one; 0: none. */
    uint32_t lock_watch[TRACE_USER_LOCKS_MAX];
    uint32_t statedumps;       /* how many there were: who keeps names to itself tells them again */
    uint32_t clock_is_certain; /* 1: two sources agree on the rate, or the architecture fixes it; else 0 */
    uint64_t geometry; /* what the three masks and buffer_count say, in one word: see trace_geometry_word() */
    uint32_t clock_error_ppm; /* the clock's true rate differs from clock_hz by at most this much */
    char clock_sources[TRACE_CLOCK_SOURCES_BYTES]; /* what clock_hz rests on: words, NUL padded */
    uint8_t reserved[512 - 132 - 4 * TRACE_USER_LOCKS_MAX - TRACE_CLOCK_SOURCES_BYTES];
    uint64_t consumed[TRACE_CPUS_MAX]; /* packet_seq_num that the consumer wants next; buffers before it are
                                          free */
    uint64_t switches[TRACE_CLASS_COUNT]; /* bit m of word c: event (c, m) is on */
};
_Static_assert(sizeof(struct trace_info) <= 4096, "the info page is one page");
_Static_assert(__builtin_offsetof(struct trace_info, consumed) == 512, "known to readers of memory dumps");

/* The geometry of all rings in one word: bits 0 to 7 the binary logarithm of a buffer's 64-bit words, 8 to 15
 * that of a ring's buffers, 32 to 63 how often the rings were set up. That count is odd while they are being
 * set up.
 *
 * A reader loads the word once and takes every size from it, so it never mixes two geometries. Memory that
 * was once part of a ring stays mapped, so reading by an old word is safe; a reader that finds another word
 * after it has copied a packet throws the copy away. */
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

/* Acquire: what is read of the rings afterwards is no older; pairs with the releases in start_over(). */
static inline uint64_t trace_geometry_of(const struct trace_info *info)
{
    return __atomic_load_n(&info->geometry, __ATOMIC_ACQUIRE);
}

/* For writers. Whoever shares the page stores `geometry` itself: before, as changing, and afterwards. */
static inline void trace_set_masks(struct trace_info *info, uint64_t buffer_bytes, uint64_t buffer_count)
{
    info->buffer_mask = buffer_bytes / 8 - 1;
    info->ring_mask = buffer_bytes * buffer_count / 8 - 1;
    info->packet_mask = (info->ring_mask & ~info->buffer_mask) * 8;
    info->buffer_count = buffer_count;
}

/* packet_seq_num of a buffer that holds none: the ring was cleared or resized. */
#define TRACE_NO_PACKET (~0ull)

/* What `committed` of a packet holds in memory. The low half counts this packet's words. The high half is 0,
 * or the packet is in doubt: when its buffer was taken, writers of earlier laps had not committed, and one of
 * them may store over it at any time. Then it says how many words they owe (modulo 2^22), and since when
 * (modulo 2^9, in units of 2^25 ticks). FORMAT.md, "Late writers". */
#define TRACE_DOUBT           (1ull << 63)
#define TRACE_DOUBT_OWED_BITS 22u
#define TRACE_DOUBT_TIME_BITS 9u
#define TRACE_DOUBT_UNIT      25u

/* A writer that owes words for longer than this is taken for dead; until then it may only be slow, as one of
 * many threads that share a processor. Whoever acts on that waits as long: a consumer before it cuts the
 * packet, change_buffer() before it forgives the debt, the kernel's heartbeat before it replaces a packet
 * whose header nobody has written. It must be one time. A debt that outlived the cut would put the buffer's
 * next packet in doubt; a ring that was replaced before the cut would lose a packet that can still be read.
 * TRACE_DOUBT_TIME_BITS must hold it: they count 2^34 ticks, 3.4 seconds at 5 GHz. */
#define TRACE_PATIENCE_SECONDS 2u

static inline bool trace_in_doubt(uint64_t committed)
{
    return committed >> 32;
}

#define TRACE_SUMS 256u /* a power of two */

/* A bit of `index`: the newest packet is closed, and the one behind it was not begun, for there was no room.
 * The other bits are then the number of the closed packet's last word: no event fits there, so all writers
 * come to trace_log_slow(). */
#define TRACE_INDEX_CLOSED ((uint64_t)1 << 63)

/* Number of the newest packet that was begun, closed or open; `words` of a buffer. */
static inline uint64_t trace_index_newest(uint64_t index, uint64_t words)
{
    return (index & ~TRACE_INDEX_CLOSED) / words;
}

/* Number of the packet that the next event goes to: the open one, or the first that was not begun. */
static inline uint64_t trace_index_head(uint64_t index, uint64_t words)
{
    return trace_index_newest(index, words) + (index >> 63);
}

/* Number of the oldest packet of which the buffer was not taken again. */
static inline uint64_t trace_index_oldest(uint64_t index, uint64_t words, uint64_t buffer_count)
{
    const uint64_t newest = trace_index_newest(index, words);
    return newest >= buffer_count ? newest - buffer_count + 1 : 0;
}

/* Words of the open packet, header included; 0: none is open. */
static inline uint64_t trace_index_open_words(uint64_t index, uint64_t words)
{
    return index & TRACE_INDEX_CLOSED ? 0 : index & (words - 1);
}

/* One processor's control page, writable by everyone. */
struct trace_control {
    uint64_t index;      /* next free 64-bit word, counted from boot; & ring_mask gives the place. And a bit:
                            TRACE_INDEX_CLOSED */
    uint64_t time_limit; /* ticks: beyond it a 32-bit timestamp could be misread, so start a new packet */
    uint64_t discarded;  /* events that found no room, since boot */
    uint64_t torn;       /* words of earlier laps found uncommitted when their buffer was reused */
    uint64_t reserved[252];
    /* Of the newest whole packets, at number % TRACE_SUMS: trace_sum_entry() of sum.h, or 0. Written by the
     * kernel, behind the writers' back: not of every packet, and never of the open one. */
    uint64_t sums[TRACE_SUMS];
};
_Static_assert(sizeof(struct trace_control) == 4096, "the control page is one page");

#endif
