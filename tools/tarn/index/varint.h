/*
 * varint.h - variable-length numbers: seven bits per byte, low ones first; the last byte lacks the high bit.
 * Written to a struct buffer, read by a struct buffer_reader.
 */
#pragma once

#include <endian.h>
#include <tools/tarn/buffer.h>

#define VARINT_BYTES_MAX 10u

/* Returns space for MORE bytes; the caller adds what it has written to `used`. */
static inline uint8_t *buffer_reserve(struct buffer *buffer, size_t more)
{
    if (__builtin_expect(buffer->size - buffer->used < more, 0)) {
        buffer->size = buffer->size + buffer->size / 2 + more + 256;
        buffer->bytes = alloc_more(buffer->bytes, buffer->size, 1);
    }
    return buffer->bytes + buffer->used;
}

/* Spreads VALUE, below 2^56, to the low seven bits of eight bytes. */
static inline uint64_t varint_spread(uint64_t value)
{
    value = (value & 0x000000000fffffff) | (value & 0x00fffffff0000000) << 4;
    value = (value & 0x00003fff00003fff) | (value & 0x0fffc0000fffc000) << 2;
    return (value & 0x007f007f007f007f) | (value & 0x3f803f803f803f80) << 1;
}

/* No loop over the bytes except for very large numbers, because the number of iterations is unpredictable. */
static inline void buffer_add_varint(struct buffer *buffer, uint64_t value)
{
    uint8_t *at = buffer_reserve(buffer, VARINT_BYTES_MAX);
    unsigned more = (63u - (unsigned)__builtin_clzll(value | 1)) / 7; /* bytes after the first */
    for (; __builtin_expect(more > 7, 0); more--, value >>= 7, buffer->used++)
        *at++ = (uint8_t)(value | 0x80);
    value = htole64(varint_spread(value) | (0x8080808080808080 & ((1ull << 8 * more) - 1)));
    memcpy(at, &value, sizeof(value));
    buffer->used += more + 1;
}

static inline uint64_t buffer_get_varint(struct buffer_reader *reader)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && reader->left > 0; shift += 7) {
        uint8_t byte = *reader->at++;
        reader->left--;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    reader->failed = true;
    return 0;
}
