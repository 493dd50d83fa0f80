/* SPDX-License-Identifier: BSD-2-Clause */
/* trace/print/words.c - words for classes, masks, modes and sizes; see words.h. Freestanding. */
#include "trace/events.h" /* generated */
#include <trace/format/layout.h>
#include <trace/print/words.h>

int trace_find_system_class(const char *name, uint64_t length)
{
    for (int i = 0; i < (int)TRACE_CLASS_COUNT; i++)
        if (trace_class_table[i].name && trace_is_word(name, length, trace_class_table[i].name))
            return i;
    return -1;
}

bool trace_parse_number(const char *text, uint64_t length, uint64_t *number)
{
    unsigned shift = 0;
    if (length > 1 && (text[length - 1] | 0x20) == 'k')
        shift = 10, length--;
    else if (length > 1 && (text[length - 1] | 0x20) == 'm')
        shift = 20, length--;
    uint64_t base = length > 2 && text[0] == '0' && (text[1] | 0x20) == 'x' ? 16 : 10, value = 0;
    for (uint64_t i = base == 16 ? 2 : 0; i < length; i++) {
        uint64_t letter = (uint8_t)text[i] | 0x20, digit = base; /* lower case; digits have that bit */
        if (letter >= '0' && letter <= '9' && text[i] >= '0')
            digit = letter - '0';
        else if (letter >= 'a' && letter <= 'f')
            digit = letter - 'a' + 10;
        if (digit >= base || value > (~0ull - digit) / base)
            return false;
        value = value * base + digit;
    }
    *number = value << shift;
    return length > 0 && value <= ~0ull >> shift;
}

static bool parse_classes(const char *text, uint64_t length, trace_find_class *find_class, uint64_t *classes)
{
    int number;
    if (trace_is_word(text, length, "all"))
        *classes = ~0ull;
    else if (trace_is_word(text, length, "basic"))
        *classes = TRACE_CLASSES_BASIC;
    else if (trace_is_word(text, length, "none") || trace_is_word(text, length, "off"))
        *classes = 0;
    else if ((number = find_class(text, length)) >= 0)
        *classes = 1ull << number;
    else
        return trace_parse_number(text, length, classes);
    return true;
}

bool trace_parse_mask(const char *text, trace_find_class *find_class, uint64_t *mask, const char **bad)
{
    uint64_t result = *text == '+' || *text == '-' ? *mask : 0, classes;
    for (;; text++) {
        bool take_away = *text == '-';
        *bad = text;
        text += *text == '+' || *text == '-';
        uint64_t length = 0;
        while (text[length] && text[length] != ',')
            length++;
        if (!parse_classes(text, length, find_class, &classes))
            return false;
        result = take_away ? result & ~classes : result | classes;
        text += length;
        if (!*text)
            break;
    }
    *mask = result;
    return true;
}

static const char *const mode_names[] = {
    [TRACE_MODE_FLIGHT] = "flight", [TRACE_MODE_STREAM] = "stream", [TRACE_MODE_ONCE] = "once"};
#define MODES (sizeof(mode_names) / sizeof(*mode_names))

bool trace_parse_mode(const char *text, uint32_t *mode)
{
    for (uint32_t i = 0; i < MODES; i++) {
        if (trace_is_word(text, __builtin_strlen(text), mode_names[i])) {
            *mode = i;
            return true;
        }
    }
    return false;
}

const char *trace_mode_name(uint32_t mode)
{
    return mode < MODES ? mode_names[mode] : "?";
}
