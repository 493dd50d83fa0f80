/*
 * utf8.h - UTF-8 in line editing: where characters begin, and how many terminal columns they take. For the
 * shell's prompt and the console's line discipline.
 *
 * A character is a code point with the combining marks that follow it. An invalid byte is a character of
 * one column, so that damaged text can be edited.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Length of a code point by its first byte: 1 to 4; 0: not a first byte. */
static inline size_t utf8_length(unsigned char first)
{
    return first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
}

/* Returns the code point at `text` and its length. An invalid byte has length 1. */
static inline uint32_t utf8_decode(const char *text, size_t size, size_t *length)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = (unsigned char)*text;
    size_t wanted = utf8_length(first);
    uint32_t code = wanted > 1 ? first & (0x7fu >> wanted) : first;
    *length = 1;
    if (wanted < 2 || wanted > size)
        return code;
    for (size_t i = 1; i < wanted; i++) {
        if (((unsigned char)text[i] & 0xc0) != 0x80)
            return first;
        code = code << 6 | ((unsigned char)text[i] & 0x3f);
    }
    if (code < least[wanted] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return first;
    *length = wanted;
    return code;
}

struct utf8_range {
    uint32_t first, last;
};

/* Combining marks and joiners: zero columns. */
static const struct utf8_range utf8_combining[] = {
    {0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},   {0x64b, 0x65f},
    {0x93c, 0x93c},   {0x941, 0x948},   {0x94d, 0x94d},   {0xe31, 0xe31},   {0xe34, 0xe3a},
    {0xe47, 0xe4e},   {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x20d0, 0x20ff},
    {0x302a, 0x302d}, {0x3099, 0x309a}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef},
};

/* East Asian wide and full-width characters, and emoji: two columns. */
static const struct utf8_range utf8_wide[] = {
    {0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xa960, 0xa97f}, {0xac00, 0xd7a3},
    {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6}, {0x1f300, 0x1f64f},
    {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
};

static inline int utf8_is_among(uint32_t code, const struct utf8_range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (code >= ranges[i].first && code <= ranges[i].last)
            return 1;
    return 0;
}

static inline size_t utf8_width(uint32_t code)
{
    if (utf8_is_among(code, utf8_combining, sizeof(utf8_combining) / sizeof(utf8_combining[0])))
        return 0;
    return utf8_is_among(code, utf8_wide, sizeof(utf8_wide) / sizeof(utf8_wide[0])) ? 2 : 1;
}

static inline size_t utf8_columns(const char *text, size_t size)
{
    size_t columns = 0, length;
    for (size_t at = 0; at < size; at += length)
        columns += utf8_width(utf8_decode(text + at, size - at, &length));
    return columns;
}

/* Returns where the character that begins at `at` ends. */
static inline size_t utf8_next(const char *text, size_t size, size_t at)
{
    size_t length;
    if (at >= size)
        return size;
    utf8_decode(text + at, size - at, &length);
    for (at += length; at < size; at += length)
        if (utf8_width(utf8_decode(text + at, size - at, &length)))
            break;
    return at;
}

/* Returns where the last character before `at` begins. Scans from the start, because damaged text cannot be
 * read backwards reliably; lines are short. */
static inline size_t utf8_previous(const char *text, size_t at)
{
    size_t begin = 0;
    for (size_t next = 0; next < at; next = utf8_next(text, at, next))
        begin = next;
    return begin;
}
