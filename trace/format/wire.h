/*
 * trace/format/wire.h - how trace packets and control requests travel between guest and host; WIRE.md
 * specifies every byte. Everything is big-endian except trace packets.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_store;

#define WIRE_MAGIC       0x54617257u /* "TarW" */
#define WIRE_VERSION     6u
#define WIRE_TCP_PORT    7777u
#define WIRE_CPUS_MAX    64u
#define WIRE_PAYLOAD_MAX ((4u << 20) + 64u) /* the largest trace buffer and its prefix */
#define WIRE_REQUEST_MAX 4096u              /* bytes that a host may send in one frame */

enum wire_type {
    /* guest to host */
    WIRE_HELLO = 1,    /* struct wire_hello: first frame on every connection, the sign that traced is there */
    WIRE_METADATA = 2, /* TSDL text of everything known; sent again when an application registers events */
    WIRE_PACKET = 3,   /* struct wire_packet, then the start of a trace packet; the rest of it is zero */
    /* struct wire_status, then struct wire_cpu_status for each CPU: losses so far, twice a second while a
     * pull runs; and once more before WIRE_END with the final numbers */
    WIRE_STATUS = 4,
    WIRE_END = 5,   /* struct wire_end: nothing more of the pull follows */
    WIRE_REPLY = 6, /* struct wire_reply, then the result of the operation */
    /* host to guest */
    WIRE_REQUEST = 16,  /* struct wire_request */
    WIRE_PULL = 17,     /* struct wire_pull */
    WIRE_PULL_END = 18, /* no payload: flush, send all events so far, then WIRE_END */
};

/* Frame header: 24 bytes, big-endian. */
struct wire_frame {
    uint32_t magic;
    uint16_t type;
    uint16_t flags; /* 0 */
    uint32_t length;
    uint32_t sequence;     /* number of this frame on this connection and direction, from 0 */
    uint32_t payload_hash; /* low half of XXH64 with seed 0 */
    uint32_t header_crc;   /* CRC-32C of the 20 bytes before */
};
#define WIRE_FRAME_BYTES 24u

struct wire_hello {
    uint32_t version;    /* WIRE_VERSION; the host refuses unknown ones */
    uint32_t byte_order; /* of trace packets: 1 little-endian, 2 big-endian */
    uint32_t cpu_count;
    uint32_t mode; /* enum trace_mode */
    uint64_t buffer_bytes;
    uint64_t buffer_count;
    uint64_t clock_hz;
    int64_t clock_offset_ns;
    uint64_t mask;
    uint64_t boot_id; /* differs from boot to boot: a resumed pull must find the same */
    uint32_t generation;
    uint32_t flags; /* WIRE_HELLO_* */
    uint8_t uuid[16];
    char machine[16]; /* "x86_64", "ppc64"; NUL padded */
};
#define WIRE_HELLO_BYTES    104u
#define WIRE_HELLO_PULLING  1u /* another connection pulls */
#define WIRE_HELLO_PREVIOUS 2u /* the trace of the system before is available */

/* Precedes the trace packet in WIRE_PACKET. */
struct wire_packet {
    uint32_t cpu;
    uint32_t flags;    /* TRACE_PACKET_CUT as in the packet */
    uint64_t sequence; /* packet_seq_num */
};
#define WIRE_PACKET_BYTES 16u

struct wire_status {
    uint32_t count; /* CPUs: entries that follow */
    uint32_t reserved;
    /* Ticks: the counts are of this time. From a running guest, when they were read; of memory, when an event
     * was last discarded, or 0. */
    uint64_t time;
};
#define WIRE_STATUS_BYTES 16u

struct wire_cpu_status {
    uint64_t next;
    uint64_t head; /* packet being written now; before WIRE_END: packets before this one belong to the pull */
    uint64_t lost; /* packets of this pull that are missing between and after those that were sent */
    uint64_t cut;  /* packets of this pull sent with their end cut off at a hole */
    uint64_t discarded; /* events that found no free buffer, since boot */
    uint64_t torn; /* words found uncommitted when their buffer was reused; a guest over the link has none */
    uint64_t events; /* logged before packet `head`, since boot; or TRACE_EVENTS_UNKNOWN */
};
#define WIRE_CPU_STATUS_BYTES 56u

enum wire_end_reason {
    WIRE_ENDED_ASKED = 1,
    WIRE_ENDED_STOPPED = 2, /* tracing was switched off in the guest: everything logged was sent */
    WIRE_ENDED_SNAPSHOT = 3,
    WIRE_ENDED_CHANGED =
        4, /* rings were cleared or changed: packets before and after do not belong together */
    WIRE_ENDED_BUSY = 5,
    WIRE_ENDED_ERROR = 6, /* the guest could not continue; status has the reason */
    WIRE_ENDED_GUEST = 7, /* the guest is being switched off, or its memory says that its system has ended */
};
struct wire_end {
    uint32_t reason;
    int32_t status; /* 0 or a negative error of kernel/errors.def */
};
#define WIRE_END_BYTES 8u

/* WIRE.md explains requests and replies; the data of replies: */
enum wire_operation {
    WIRE_OP_COMMAND = 1, /* text */
    /* struct wire_hello, u32 count, u32 low-water mark in percent, struct wire_cpu_status each, then
     * WIRE_CLASSES switches as u64 */
    WIRE_OP_STATISTICS = 2,
    WIRE_OP_PREVIOUS = 3,     /* struct wire_previous */
    WIRE_OP_LOCK_CLASSES = 4, /* u32 count, u32 0, struct wire_lock_class each */
    WIRE_OP_TABLES = 6,       /* b: enum wire_tables */
    WIRE_OP_METADATA = 7,     /* TSDL text */
    /* As TABLES and METADATA, of the system before; b: bytes of tables, whole words, as many as its
     * metadata say. The clock is 0. */
    WIRE_OP_PREVIOUS_TABLES = 10,
    WIRE_OP_PREVIOUS_METADATA = 11,
};
#define WIRE_CLASSES 64u

/* Tables of counters: those that a CPU's threads share, or private ones. */
enum wire_tables {
    /* a: CPU. The clock when the copy began, as u64, then the CPU's tables, trace_info.table_bytes. Words are
     * copied from the last to the first, so a row's counts of updates tell whether it is of one moment. */
    WIRE_TABLES_SHARED = 0,
    WIRE_TABLES_PRIVATE = 1, /* a: serial number of the table before. struct trace_routines, rows */
    WIRE_TABLES_NAMES = 2, /* of their routines; a: the first number. struct trace_routine, as many as fit */
};

struct wire_request {
    uint32_t operation;
    uint32_t tag; /* comes back in the reply */
    uint64_t a, b;
    const char *text; /* to the frame's end; NULL: none. NUL-terminated here */
};
#define WIRE_REQUEST_BYTES 24u
#define WIRE_TEXT_MAX      1024u /* without a NUL */

struct wire_reply {
    uint32_t tag;
    int32_t status; /* 0 or a negative error of kernel/errors.def */
};
#define WIRE_REPLY_BYTES 8u

/* The trace of the system before; -E_NOT_FOUND: there is none. */
#define WIRE_REASON_BYTES 128u
struct wire_previous {
    struct wire_hello hello;             /* its own, as it was at the end; no flags */
    uint32_t end;                        /* enum trace_store_end of store.h */
    uint32_t packets, unsummed, damaged; /* as in struct trace_store_kept */
    char reason[WIRE_REASON_BYTES];      /* NUL padded */
};
#define WIRE_PREVIOUS_BYTES (WIRE_HELLO_BYTES + 16 + WIRE_REASON_BYTES)

#define WIRE_TABLES_CLOCK_BYTES 8u /* before the tables in the reply to WIRE_OP_TABLES */

/* A lock class, and how it is sampled. */
#define WIRE_LOCK_NAME_BYTES 32u
struct wire_lock_class {
    uint32_t number;                 /* as in the trace; 0: programs' mutexes */
    uint32_t sample_every;           /* one of this many acquisitions is sampled; 0: none */
    uint64_t contended;              /* contended acquisitions; not counted for programs' mutexes */
    char name[WIRE_LOCK_NAME_BYTES]; /* NUL padded */
};
#define WIRE_LOCK_CLASS_BYTES (16u + WIRE_LOCK_NAME_BYTES)
#define WIRE_LOCK_CLASSES_MAX 64u

/* The positions follow: for each CPU the packet wanted next, 0 for the oldest. */
struct wire_pull {
    uint32_t flags; /* WIRE_PULL_* */
    uint32_t mode;  /* enum trace_mode while the pull runs; the mode before is restored afterwards */
    uint32_t count; /* positions that follow, 0 or the CPU count */
    uint32_t reserved;
};
#define WIRE_PULL_BYTES    16u
#define WIRE_PULL_SNAPSHOT 1u /* send the present contents and end; changes nothing in the guest */
#define WIRE_PULL_RESUME   2u /* continue after a broken link: no statedump, count missed packets */
#define WIRE_PULL_MODE     4u /* `mode` is valid */
#define WIRE_PULL_PREVIOUS 8u /* everything left of the trace of the system before; no other flag counts */

uint32_t wire_crc(const void *bytes, size_t size);  /* CRC-32C (Castagnoli, reflected) */
uint32_t wire_hash(const void *bytes, size_t size); /* the low 32 bits of XXH64, seed 0 */

/* Big-endian numbers at any alignment. */
static inline void wire_put32(uint8_t *to, uint32_t value)
{
    to[0] = value >> 24, to[1] = value >> 16, to[2] = value >> 8, to[3] = value;
}
static inline void wire_put64(uint8_t *to, uint64_t value)
{
    wire_put32(to, value >> 32);
    wire_put32(to + 4, value);
}
static inline uint32_t wire_get32(const uint8_t *from)
{
    return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}
static inline uint64_t wire_get64(const uint8_t *from)
{
    return (uint64_t)wire_get32(from) << 32 | wire_get32(from + 4);
}

/* Headers and fixed payloads to bytes and back. wire_get_frame checks magic, checksum and that the length is
 * at most `limit`; the other functions only copy. */
void wire_put_frame(uint8_t to[WIRE_FRAME_BYTES], uint16_t type, uint32_t length, uint32_t sequence,
                    uint32_t payload_hash);
enum wire_check { WIRE_OK, WIRE_NO_MAGIC, WIRE_BAD_HEADER, WIRE_TOO_LONG };
enum wire_check wire_get_frame(const uint8_t from[WIRE_FRAME_BYTES], uint32_t limit,
                               struct wire_frame *frame);

void wire_put_hello(uint8_t to[WIRE_HELLO_BYTES], const struct wire_hello *hello);
void wire_get_hello(const uint8_t from[WIRE_HELLO_BYTES], struct wire_hello *hello);
/* Describes a store's (store.h) system in a HELLO. The store's numbers are in the reader's byte order;
 * `is_little_endian`: byte order of its packets. The store does not have the mask. */
void wire_hello_of_store(struct wire_hello *hello, const struct trace_store *store, bool is_little_endian);
void wire_put_previous(uint8_t to[WIRE_PREVIOUS_BYTES], const struct wire_previous *previous);
void wire_get_previous(const uint8_t from[WIRE_PREVIOUS_BYTES], struct wire_previous *previous);
void wire_put_status(uint8_t to[WIRE_STATUS_BYTES], const struct wire_status *status);
void wire_get_status(const uint8_t from[WIRE_STATUS_BYTES], struct wire_status *status);
void wire_put_cpu_status(uint8_t to[WIRE_CPU_STATUS_BYTES], const struct wire_cpu_status *status);
void wire_get_cpu_status(const uint8_t from[WIRE_CPU_STATUS_BYTES], struct wire_cpu_status *status);
