/*
 * trace/format/wire.c - checksums, frame header and fixed payloads of the link (wire.h).
 *
 * Runs in servers/traced and in the host tool. On an emulated CPU the payload's checksum is the largest part
 * of the cost of sending, so it is XXH64 (Yann Collet's, public specification), a few instructions for eight
 * bytes.
 */
#include <string.h>
#include <trace/format/crc.h>
#include <trace/format/store.h>
#include <trace/format/wire.h>

uint32_t wire_crc(const void *bytes, size_t size)
{
    return ~trace_crc_add(~0u, bytes, size);
}

/* ---- XXH64, seed 0: four lanes of 64-bit words, little-endian ------------------------------------- */

#define PRIME1 0x9e3779b185ebca87ull
#define PRIME2 0xc2b2ae3d27d4eb4full
#define PRIME3 0x165667b19e3779f9ull
#define PRIME4 0x85ebca77c2b2ae63ull
#define PRIME5 0x27d4eb2f165667c5ull

static uint64_t rotate(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64 - bits);
}

static uint64_t load64(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, 8);
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(word) : word;
}

static uint64_t mix_lane(uint64_t lane, uint64_t word)
{
    return rotate(lane + word * PRIME2, 31) * PRIME1;
}

static uint64_t merge_lane(uint64_t hash, uint64_t lane)
{
    return (hash ^ mix_lane(0, lane)) * PRIME1 + PRIME4;
}

static uint64_t hash_lanes(const uint8_t **bytes, size_t *size)
{
    uint64_t a = PRIME1 + PRIME2, b = PRIME2, c = 0, d = 0 - PRIME1;
    const uint8_t *at = *bytes;
    for (; *size >= 32; *size -= 32, at += 32) {
        a = mix_lane(a, load64(at));
        b = mix_lane(b, load64(at + 8));
        c = mix_lane(c, load64(at + 16));
        d = mix_lane(d, load64(at + 24));
    }
    *bytes = at;
    uint64_t hash = rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
    return merge_lane(merge_lane(merge_lane(merge_lane(hash, a), b), c), d);
}

uint32_t wire_hash(const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    size_t left = size;
    uint64_t hash = (size >= 32 ? hash_lanes(&at, &left) : PRIME5) + size;
    for (; left >= 8; left -= 8, at += 8)
        hash = rotate(hash ^ mix_lane(0, load64(at)), 27) * PRIME1 + PRIME4;
    if (left >= 4) {
        uint32_t word = at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
        hash = rotate(hash ^ word * PRIME1, 23) * PRIME2 + PRIME3;
        left -= 4, at += 4;
    }
    for (; left > 0; left--)
        hash = rotate(hash ^ *at++ * PRIME5, 11) * PRIME1;
    hash = (hash ^ hash >> 33) * PRIME2;
    hash = (hash ^ hash >> 29) * PRIME3;
    return (uint32_t)(hash ^ hash >> 32);
}

void wire_put_frame(uint8_t to[WIRE_FRAME_BYTES], uint16_t type, uint32_t length, uint32_t sequence,
                    uint32_t payload_hash)
{
    wire_put32(to, WIRE_MAGIC);
    wire_put32(to + 4, (uint32_t)type << 16);
    wire_put32(to + 8, length);
    wire_put32(to + 12, sequence);
    wire_put32(to + 16, payload_hash);
    wire_put32(to + 20, wire_crc(to, 20));
}

enum wire_check wire_get_frame(const uint8_t from[WIRE_FRAME_BYTES], uint32_t limit, struct wire_frame *frame)
{
    *frame = (struct wire_frame){
        .magic = wire_get32(from),
        .type = wire_get32(from + 4) >> 16,
        .flags = wire_get32(from + 4) & 0xffff,
        .length = wire_get32(from + 8),
        .sequence = wire_get32(from + 12),
        .payload_hash = wire_get32(from + 16),
        .header_crc = wire_get32(from + 20),
    };
    if (frame->magic != WIRE_MAGIC)
        return WIRE_NO_MAGIC;
    if (frame->header_crc != wire_crc(from, 20))
        return WIRE_BAD_HEADER;
    return frame->length <= limit ? WIRE_OK : WIRE_TOO_LONG;
}

/* Copies a structure in the wire's byte order, from the machine's or back. Either place may be unaligned. */
static void convert(void *to, const void *from, size_t size, const char *layout)
{
    uint64_t copy[WIRE_PREVIOUS_BYTES / 8];
    memcpy(copy, from, size);
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        trace_swap(copy, layout);
    memcpy(to, copy, size);
}

#define HELLO_LAYOUT      "444488888844tt"
#define PREVIOUS_LAYOUT   HELLO_LAYOUT "4444tttttttt"
#define STATUS_LAYOUT     "448"
#define CPU_STATUS_LAYOUT "8888888"
_Static_assert(sizeof(struct wire_hello) == WIRE_HELLO_BYTES &&
                   sizeof(struct wire_previous) == WIRE_PREVIOUS_BYTES &&
                   sizeof(struct wire_cpu_status) == WIRE_CPU_STATUS_BYTES,
               "no padding");

void wire_put_hello(uint8_t to[WIRE_HELLO_BYTES], const struct wire_hello *hello)
{
    convert(to, hello, WIRE_HELLO_BYTES, HELLO_LAYOUT);
}

void wire_get_hello(const uint8_t from[WIRE_HELLO_BYTES], struct wire_hello *hello)
{
    convert(hello, from, WIRE_HELLO_BYTES, HELLO_LAYOUT);
    hello->machine[15] = 0;
}

void wire_hello_of_store(struct wire_hello *hello, const struct trace_store *store, bool is_little_endian)
{
    *hello = (struct wire_hello){
        .version = WIRE_VERSION,
        .byte_order = is_little_endian ? 1 : 2,
        .cpu_count = store->cpu_count,
        .mode = store->mode,
        .buffer_bytes = store->buffer_bytes,
        .buffer_count = store->buffer_count,
        .clock_hz = store->clock_hz,
        .clock_offset_ns = store->clock_offset_ns,
        .boot_id = store->boot_id,
        .generation = store->generation,
    };
    memcpy(hello->uuid, store->uuid, sizeof(hello->uuid));
    memcpy(hello->machine, store->machine, sizeof(hello->machine));
}

void wire_put_previous(uint8_t to[WIRE_PREVIOUS_BYTES], const struct wire_previous *previous)
{
    convert(to, previous, WIRE_PREVIOUS_BYTES, PREVIOUS_LAYOUT);
}

void wire_get_previous(const uint8_t from[WIRE_PREVIOUS_BYTES], struct wire_previous *previous)
{
    convert(previous, from, WIRE_PREVIOUS_BYTES, PREVIOUS_LAYOUT);
    previous->hello.machine[15] = 0;
    previous->reason[WIRE_REASON_BYTES - 1] = 0;
}

void wire_put_status(uint8_t to[WIRE_STATUS_BYTES], const struct wire_status *status)
{
    convert(to, status, WIRE_STATUS_BYTES, STATUS_LAYOUT);
}

void wire_get_status(const uint8_t from[WIRE_STATUS_BYTES], struct wire_status *status)
{
    convert(status, from, WIRE_STATUS_BYTES, STATUS_LAYOUT);
}

void wire_put_cpu_status(uint8_t to[WIRE_CPU_STATUS_BYTES], const struct wire_cpu_status *status)
{
    convert(to, status, WIRE_CPU_STATUS_BYTES, CPU_STATUS_LAYOUT);
}

void wire_get_cpu_status(const uint8_t from[WIRE_CPU_STATUS_BYTES], struct wire_cpu_status *status)
{
    convert(status, from, WIRE_CPU_STATUS_BYTES, CPU_STATUS_LAYOUT);
}
