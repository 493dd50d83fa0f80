/* trace/format/text.h - writes text into memory, and compares words of text. Freestanding. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct trace_text {
    char *bytes;
    uint64_t capacity, length; /* length: of all the text, also the part that does not fit */
};

static inline void trace_text_char(struct trace_text *text, char c)
{
    if (text->length < text->capacity)
        text->bytes[text->length] = c;
    text->length++;
}

static inline void trace_text_add(struct trace_text *text, const char *more)
{
    while (*more)
        trace_text_char(text, *more++);
}

static inline void trace_text_number(struct trace_text *text, uint64_t value)
{
    char digits[21], *at = digits + sizeof(digits) - 1;
    *at = 0;
    do
        *--at = (char)('0' + value % 10);
    while (value /= 10);
    trace_text_add(text, at);
}

static inline void trace_text_hex(struct trace_text *text, uint64_t value)
{
    trace_text_add(text, "0x");
    for (int shift = (63 - __builtin_clzll(value | 1)) & ~3; shift >= 0; shift -= 4)
        trace_text_char(text, "0123456789abcdef"[value >> shift & 0xf]);
}

/* Ends the text with a NUL behind its capacity. */
static inline void trace_text_finish(const struct trace_text *text)
{
    text->bytes[text->length < text->capacity ? text->length : text->capacity] = 0;
}

/* Whether the `length` bytes at `text` are exactly `word`. */
static inline bool trace_is_word(const char *text, uint64_t length, const char *word)
{
    uint64_t i = 0;
    while (i < length && word[i] && text[i] == word[i])
        i++;
    return i == length && !word[i];
}

static inline bool trace_is_same(const char *a, const char *b)
{
    return trace_is_word(a, __builtin_strlen(a), b);
}
