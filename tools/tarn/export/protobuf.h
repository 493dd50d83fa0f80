/*
 * protobuf.h - writes messages in the wire format of Protocol Buffers.
 *
 * A field is its number and wire type, followed by a variable-length number, or 8 bytes, or a length and
 * bytes. A nested message is such bytes. Its length is known only at its end, so four bytes are reserved for
 * it; the format allows numbers to be longer than needed.
 */
#pragma once

#include <tools/tarn/buffer.h>
#include <tools/tarn/print/print_value.h>

static inline void protobuf_number(struct buffer *to, uint64_t number)
{
    uint8_t bytes[10];
    size_t count = 0;
    for (; number >= 0x80; number >>= 7)
        bytes[count++] = (uint8_t)(number | 0x80);
    bytes[count++] = (uint8_t)number;
    buffer_add(to, bytes, count);
}

/* Adds a field of an integer, enumeration or bool type; negative numbers as their 64 bits. */
static inline void protobuf_uint(struct buffer *to, unsigned field, uint64_t value)
{
    protobuf_number(to, field << 3);
    protobuf_number(to, value);
}

static inline void protobuf_fixed64(struct buffer *to, unsigned field, uint64_t value)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
    protobuf_number(to, field << 3 | 1);
    buffer_add(to, bytes, sizeof(bytes));
}

static inline void protobuf_bytes(struct buffer *to, unsigned field, const void *bytes, size_t length)
{
    protobuf_number(to, field << 3 | 2);
    protobuf_number(to, length);
    buffer_add(to, bytes, length);
}

/* Begins a nested message, of less than 256 MiB. protobuf_end(MARK) ends it. */
static inline size_t protobuf_begin(struct buffer *to, unsigned field)
{
    protobuf_number(to, field << 3 | 2);
    buffer_add(to, (uint8_t[4]){0}, 4);
    return to->used;
}

static inline void protobuf_end(struct buffer *to, size_t mark)
{
    size_t length = to->used - mark;
    for (unsigned i = 0; i < 4; i++)
        to->bytes[mark - 4 + i] = (uint8_t)((length >> 7 * i & 0x7f) | (i < 3 ? 0x80 : 0));
}

static inline void protobuf_text(struct buffer *to, unsigned field, const char *text, size_t length)
{
    size_t mark = protobuf_begin(to, field);
    buffer_utf8(to, text, length);
    protobuf_end(to, mark);
}

/* A field: a text, unless it is NULL, or else a number. Field 0 is none. */
struct protobuf_part {
    unsigned field;
    uint64_t number;
    const char *text;
};

static inline void protobuf_parts(struct buffer *to, unsigned field, const struct protobuf_part *parts,
                                  size_t count)
{
    size_t mark = protobuf_begin(to, field);
    for (; count > 0; count--, parts++)
        if (parts->text != NULL)
            protobuf_text(to, parts->field, parts->text, strlen(parts->text));
        else if (parts->field != 0)
            protobuf_uint(to, parts->field, parts->number);
    protobuf_end(to, mark);
}

/* Adds a message of such fields: protobuf_message(to, 7, {1, .number = number}, {2, .text = name}). */
#define protobuf_message(to, field, ...)                                   \
    protobuf_parts(to, field, (const struct protobuf_part[]){__VA_ARGS__}, \
                   sizeof((const struct protobuf_part[]){__VA_ARGS__}) / sizeof(struct protobuf_part))
