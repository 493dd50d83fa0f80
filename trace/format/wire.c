/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/format/wire.c - checksum, frame header and fixed payloads of the link (wire.h).
 *
 * Runs in servers/traced and in the host tool. The checksum's tables are filled at first use; filling
 * them twice at once writes the same values, so threads need no lock.
 */
#include <string.h>
#include <trace/format/wire.h>

#define CRC_POLYNOMIAL 0x82f63b78u /* Castagnoli, bit-reversed */

static uint32_t crc_table[8][256];
static bool crc_ready;

static void fill_crc_table(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? CRC_POLYNOMIAL : 0);
        crc_table[0][i] = crc;
    }
    for (uint32_t i = 0; i < 256; i++)
        for (int k = 1; k < 8; k++)
            crc_table[k][i] = crc_table[k - 1][i] >> 8 ^ crc_table[0][crc_table[k - 1][i] & 255];
    /* Release pairs with the acquire in wire_crc: who sees `ready` sees the tables. */
    __atomic_store_n(&crc_ready, true, __ATOMIC_RELEASE);
}

/* Eight bytes a step ("slicing by 8"): byte j of a step goes through table 7 - j. */
uint32_t wire_crc(uint32_t crc, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;

    if (!__atomic_load_n(&crc_ready, __ATOMIC_ACQUIRE))
        fill_crc_table();
    crc = ~crc;
    for (; size >= 8; size -= 8, at += 8) {
        uint64_t word;
        memcpy(&word, at, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap64(word);
#endif
        word ^= crc;
        crc = crc_table[7][word & 255] ^ crc_table[6][word >> 8 & 255] ^ crc_table[5][word >> 16 & 255] ^
              crc_table[4][word >> 24 & 255] ^ crc_table[3][word >> 32 & 255] ^
              crc_table[2][word >> 40 & 255] ^ crc_table[1][word >> 48 & 255] ^ crc_table[0][word >> 56];
    }
    for (; size > 0; size--, at++)
        crc = crc >> 8 ^ crc_table[0][(crc ^ *at) & 255];
    return ~crc;
}

void wire_put_frame(uint8_t to[WIRE_FRAME_BYTES], uint16_t type, uint32_t length, uint32_t sequence,
                    uint32_t payload_crc)
{
    wire_put32(to, WIRE_MAGIC);
    wire_put32(to + 4, (uint32_t)type << 16);
    wire_put32(to + 8, length);
    wire_put32(to + 12, sequence);
    wire_put32(to + 16, payload_crc);
    wire_put32(to + 20, wire_crc(0, to, 20));
}

enum wire_check wire_get_frame(const uint8_t from[WIRE_FRAME_BYTES], uint32_t limit, struct wire_frame *frame)
{
    *frame = (struct wire_frame){
        .magic = wire_get32(from),
        .type = wire_get32(from + 4) >> 16,
        .flags = wire_get32(from + 4) & 0xffff,
        .length = wire_get32(from + 8),
        .sequence = wire_get32(from + 12),
        .payload_crc = wire_get32(from + 16),
        .header_crc = wire_get32(from + 20),
    };
    if (frame->magic != WIRE_MAGIC)
        return WIRE_NO_MAGIC;
    if (frame->header_crc != wire_crc(0, from, 20))
        return WIRE_BAD_HEADER;
    return frame->length <= limit ? WIRE_FINE : WIRE_TOO_LONG;
}

void wire_put_hello(uint8_t to[WIRE_HELLO_BYTES], const struct wire_hello *hello)
{
    wire_put32(to, hello->version);
    wire_put32(to + 4, hello->byte_order);
    wire_put32(to + 8, hello->cpu_count);
    wire_put32(to + 12, hello->mode);
    wire_put64(to + 16, hello->buffer_bytes);
    wire_put64(to + 24, hello->buffer_count);
    wire_put64(to + 32, hello->clock_hz);
    wire_put64(to + 40, (uint64_t)hello->clock_offset_ns);
    wire_put64(to + 48, hello->mask);
    wire_put64(to + 56, hello->boot_id);
    wire_put32(to + 64, hello->generation);
    wire_put32(to + 68, hello->pulling);
    memcpy(to + 72, hello->uuid, 16);
    memcpy(to + 88, hello->machine, 16);
}

void wire_get_hello(const uint8_t from[WIRE_HELLO_BYTES], struct wire_hello *hello)
{
    hello->version = wire_get32(from);
    hello->byte_order = wire_get32(from + 4);
    hello->cpu_count = wire_get32(from + 8);
    hello->mode = wire_get32(from + 12);
    hello->buffer_bytes = wire_get64(from + 16);
    hello->buffer_count = wire_get64(from + 24);
    hello->clock_hz = wire_get64(from + 32);
    hello->clock_offset_ns = (int64_t)wire_get64(from + 40);
    hello->mask = wire_get64(from + 48);
    hello->boot_id = wire_get64(from + 56);
    hello->generation = wire_get32(from + 64);
    hello->pulling = wire_get32(from + 68);
    memcpy(hello->uuid, from + 72, 16);
    memcpy(hello->machine, from + 88, 16);
    hello->machine[15] = 0;
}

void wire_put_cpu_status(uint8_t to[WIRE_CPU_STATUS_BYTES], const struct wire_cpu_status *status)
{
    wire_put64(to, status->next);
    wire_put64(to + 8, status->head);
    wire_put64(to + 16, status->lost);
    wire_put64(to + 24, status->cut);
    wire_put64(to + 32, status->discarded);
    wire_put64(to + 40, status->torn);
}

void wire_get_cpu_status(const uint8_t from[WIRE_CPU_STATUS_BYTES], struct wire_cpu_status *status)
{
    status->next = wire_get64(from);
    status->head = wire_get64(from + 8);
    status->lost = wire_get64(from + 16);
    status->cut = wire_get64(from + 24);
    status->discarded = wire_get64(from + 32);
    status->torn = wire_get64(from + 40);
}
