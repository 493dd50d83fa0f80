/*
 * trace/ring/text.h - strings that are copied into events, eight bytes at a time.
 *
 * The text may change meanwhile, if another thread writes to it. The copy contains no NUL even then,
 * because readers look for the next event behind it. Zero bytes of a word: Warren, Hacker's Delight, 2nd
 * edition, 6-1.
 */
#pragma once

#include <stdint.h>

/* A word may begin at any address, and have bytes after the text's end, in its page. */
typedef volatile uint64_t trace_text_word __attribute__((aligned(1), may_alias));
#define TRACE_TEXT_PAGE 4096u /* the smallest */

/* 0x80 in place of each zero byte, 0 in place of the others. */
static inline uint64_t trace_zero_bytes(uint64_t word)
{
    const uint64_t low = 0x7f7f7f7f7f7f7f7full;
    return ~(((word & low) + low) | word | low);
}

/* Bytes before the first zero byte, which exists. */
static inline uint32_t trace_before_zero(uint64_t zero_bytes)
{
    return (uint32_t)(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_ctzll(zero_bytes)
                                                                : __builtin_clzll(zero_bytes)) /
           8;
}

/* Bytes before the text's NUL, at most `longest`. Sanitizers would complain of the bytes after the end. */
__attribute__((no_sanitize_address, no_sanitize_thread)) static inline uint32_t trace_text_length(
    const char *text, uint32_t longest)
{
    uint32_t length = 0;
    while (length < longest) {
        const char *at = text + length;
        if ((uintptr_t)at % TRACE_TEXT_PAGE > TRACE_TEXT_PAGE - sizeof(uint64_t)) {
            if (!*at)
                break;
            length++;
            continue;
        }
        const uint64_t zero_bytes = trace_zero_bytes(*(const trace_text_word *)at);
        if (zero_bytes) {
            length += trace_before_zero(zero_bytes);
            break;
        }
        length += sizeof(uint64_t);
    }
    return length < longest ? length : longest;
}

static inline void trace_text_put_word(char *to, const char *text)
{
    const uint64_t word = *(const trace_text_word *)text;
    *(trace_text_word *)to = word | (trace_zero_bytes(word) >> 7) * '?';
}

/* Copies the bytes that trace_text_length() has counted. */
static inline void trace_text_copy(char *to, const char *text, uint32_t length)
{
    const uint32_t word = sizeof(uint64_t);
    if (length >= word) {
        for (uint32_t i = 0; i + word < length; i += word)
            trace_text_put_word(to + i, text + i);
        trace_text_put_word(to + length - word, text + length - word);
        return;
    }
    for (uint32_t i = 0; i < length; i++) {
        const char c = ((const volatile char *)text)[i];
        to[i] = c ? c : '?';
    }
}
