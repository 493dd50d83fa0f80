/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/view/varint.h - small numbers in few bytes: seven bits a byte, the low ones first, the last byte
 * without the high bit. Added to a struct buffer, read again through a struct buffer_reader.
 */
#ifndef TARN_VARINT_H
#define TARN_VARINT_H

#include <tools/tarn/buffer.h>

#define VARINT_BYTES_MAX 10u

/* Where MORE bytes can be written; what was written is then counted by adding to `used`. */
static inline uint8_t *buffer_reserve(struct buffer *buffer, size_t more)
{
    if (__builtin_expect(buffer->size - buffer->used < more, 0)) {
        buffer->size = buffer->size + buffer->size / 2 + more + 256;
        buffer->bytes = alloc_more(buffer->bytes, buffer->size, 1);
    }
    return buffer->bytes + buffer->used;
}

static inline void buffer_add_varint(struct buffer *buffer, uint64_t value)
{
    uint8_t *at = buffer_reserve(buffer, VARINT_BYTES_MAX), *start = at;

    for (; value >= 0x80; value >>= 7)
        *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    buffer->used += (size_t)(at - start);
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

#endif
