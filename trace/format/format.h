/*
 * trace/format/format.h - the bytes of a Tarn trace: event header, packet header, fixed events.
 *
 * FORMAT.md specifies every byte. Everything is in the byte order of the machine that logged. Kernel,
 * servers, applications and the host tool share this file, so it includes nothing else of Tarn.
 *
 * 64-bit event words, major and minor ids, filler and committed counts come from K42 (Wisniewski and
 * Rosenburg, SC'03, 3.1 and 3.2).
 */
#pragma once

#include <stdint.h>

#define TRACE_CTF_MAGIC 0xC1FC1FC1u
#define TRACE_STREAM_ID 0u /* one CTF stream class; one stream per CPU */

#define TRACE_CLASS_COUNT      64u        /* major ids; each has a bit in the mask */
#define TRACE_CLASS_APP_FIRST  48u        /* 48..63 are allocated to applications at registration */
#define TRACE_MINORS_SWITCHED  64u        /* minors below this can be switched one by one */
#define TRACE_SAMPLE_EVERY_MAX (1u << 24) /* of how many events one can be logged */
#define TRACE_LENGTH_MAX       1023u      /* words of one event, header included */
#define TRACE_NAME_BYTES       16u        /* process and thread names, NUL padded */

/* An event header is one 64-bit word. GCC lays bit-fields out from the low bit on little-endian machines and
 * from the high bit on big-endian ones, as CTF reads them, so one TSDL text fits both. */
struct trace_header {
    uint32_t id : 22;     /* class << 16 | minor */
    uint32_t length : 10; /* 64-bit words including the header; 0 only in a filler: up to the buffer's end */
    uint32_t timestamp;   /* low 32 bits of the clock, in ticks */
};
_Static_assert(sizeof(struct trace_header) == 8, "an event header is one word");

#define TRACE_ID(class, minor) ((uint32_t)(class) << 16 | (uint32_t)(minor))
#define TRACE_ID_CLASS(id)     ((id) >> 16)
#define TRACE_ID_MINOR(id)     ((id)&0xffffu)

/* The same for a machine of either byte order: the header's word as that machine reads it, and back. */
static inline uint64_t trace_header_word(_Bool is_little, struct trace_header header)
{
    const uint64_t id = header.id, length = header.length, timestamp = header.timestamp;
    return is_little ? timestamp << 32 | length << 22 | id : id << 42 | length << 32 | timestamp;
}

static inline struct trace_header trace_header_of(_Bool is_little, uint64_t word)
{
    if (is_little)
        return (struct trace_header){(uint32_t)word & 0x3fffff, (uint32_t)word >> 22, (uint32_t)(word >> 32)};
    return (struct trace_header){(uint32_t)(word >> 42), (uint32_t)(word >> 32) & 0x3ff, (uint32_t)word};
}

/* The half of a header that does not depend on the time: what is first in memory. Compilers spend 18
 * instructions on bit-fields that they do not know. */
static inline __attribute__((always_inline)) uint32_t trace_header_half(uint32_t id, uint32_t length)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? length << 22 | id : id << 10 | length;
}

/* The start of every buffer: CTF packet header and packet context. A packet is whole when committed ==
 * packet_size / 64. */
struct trace_packet {
    /* packet.header */
    uint32_t magic;
    uint32_t stream_id;
    uint8_t uuid[16]; /* hash of the system's schema, as in the metadata */
    /* packet.context */
    uint64_t timestamp_begin;
    /* time of the end event; undefined until the packet is closed, like content_size */
    uint64_t timestamp_end;
    uint64_t content_size;     /* bits, from the start of the packet */
    uint64_t packet_size;      /* bits of the buffer */
    uint64_t events_discarded; /* on this CPU since boot, when the packet began */
    uint64_t packet_seq_num;   /* buffer number on this CPU since boot: consecutive */
    uint64_t committed;        /* 64-bit words of this buffer that writers have committed; or see layout.h */
    uint64_t events_before; /* in the packets of this CPU before this one, since boot, without end events */
    uint32_t cpu_id;
    uint32_t flags; /* TRACE_PACKET_* */
};
#define TRACE_PACKET_WORDS (sizeof(struct trace_packet) / 8)
_Static_assert(sizeof(struct trace_packet) == 96, "packet header and context are 12 words");

/* of the other byte order, for trace_swap() */
#define TRACE_PACKET_LAYOUT "44t8888888844"

/* Reverses the bytes of a structure's numbers. `layout`: the sizes of its members in their order; 4 or 8 for
 * a number, t for a text of 16 bytes. */
static inline void trace_swap(void *structure, const char *layout)
{
    typedef uint32_t __attribute__((may_alias)) half;
    typedef uint64_t __attribute__((may_alias)) whole;
    for (char *at = structure; *layout; at += *layout == 't' ? 16 : *layout - '0', layout++)
        if (*layout == '8')
            *(whole *)at = __builtin_bswap64(*(whole *)at);
        else if (*layout == '4')
            *(half *)at = __builtin_bswap32(*(half *)at);
}

/* a reader cut the content at the first hole or bad event; the rest was lost */
#define TRACE_PACKET_CUT     1u
#define TRACE_PACKET_CLOSING 2u /* made at the end of a pull, without events: records the last losses */
#define TRACE_EVENTS_UNKNOWN UINT64_MAX /* `events_before` of a closing packet: the guest did not say */

/* Events of class 0 that the logging path itself writes; trace/schema/trace.ev declares their fields. */
#define TRACE_CLASS_TRACE   0u
#define TRACE_MINOR_FILLER  1u /* covers the rest of a buffer; never inside content_size */
#define TRACE_MINOR_CONTEXT 2u /* first event of every packet: the running thread */

#define TRACE_MINOR_HEARTBEAT 3u
/* one word, last event of every packet */
#define TRACE_MINOR_END       7u

/* The headers at the end of a packet's content: of the end event, and of the filler behind it, which covers
 * the `rest` words of the buffer. */
static inline uint64_t trace_end_word(_Bool is_little, uint64_t time)
{
    return trace_header_word(
        is_little, (struct trace_header){TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_END), 1, (uint32_t)time});
}

static inline uint64_t trace_filler_word(_Bool is_little, uint64_t rest, uint64_t time)
{
    return trace_header_word(is_little, (struct trace_header){TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_FILLER),
                                                              rest <= TRACE_LENGTH_MAX ? (uint32_t)rest : 0,
                                                              (uint32_t)time});
}

struct trace_context {
    uint32_t pid;
    uint32_t tid;
    char name[TRACE_NAME_BYTES];
};
#define TRACE_CONTEXT_WORDS (1 + sizeof(struct trace_context) / 8)
