/*
 * buffer.h - a growing byte buffer, and a bounds-checked reader.
 *
 * For data that one build of the tool stores and the same build reads back: values are in host byte order.
 * The owner frees `bytes`.
 */
#pragma once

#include <string.h>
#include <tools/tarn/tarn.h>

struct buffer {
    uint8_t *bytes;
    size_t used, size;
};

static inline void buffer_add(struct buffer *buffer, const void *bytes, size_t count)
{
    if (buffer->size - buffer->used < count || buffer->bytes == NULL) {
        buffer->size = 2 * buffer->size + count + 256;
        buffer->bytes = alloc_more(buffer->bytes, buffer->size, 1);
    }
    memcpy(buffer->bytes + buffer->used, bytes, count);
    buffer->used += count;
}

/* Returns space for MORE bytes; the caller adds what it has written to `used`. */
static inline uint8_t *buffer_reserve(struct buffer *buffer, size_t more)
{
    if (__builtin_expect(buffer->size - buffer->used < more, 0)) {
        buffer->size = buffer->size + buffer->size / 2 + more + 256;
        buffer->bytes = alloc_more(buffer->bytes, buffer->size, 1);
    }
    return buffer->bytes + buffer->used;
}

static inline void buffer_text(struct buffer *buffer, const char *text)
{
    buffer_add(buffer, text, strlen(text));
}

/* For each ITEM of the array of TYPE that a buffer contains. */
#define BUFFER_EACH(type, item, buffer) \
    for (type *item = (type *)(buffer)->bytes; item < (type *)((buffer)->bytes + (buffer)->used); item++)

/* The bytes left to read. Reading past the end gives zeros and sets `failed`. */
struct buffer_reader {
    const uint8_t *at;
    size_t left;
    bool failed;
};

/* Skips COUNT bytes. The caller has checked that they are there. */
static inline void buffer_skip(struct buffer_reader *reader, size_t count)
{
    reader->at += count;
    reader->left -= count;
}

static inline void buffer_get(struct buffer_reader *reader, void *value, size_t count)
{
    if (reader->failed || reader->left < count) {
        reader->failed = true;
        memset(value, 0, count);
        return;
    }
    memcpy(value, reader->at, count);
    buffer_skip(reader, count);
}
