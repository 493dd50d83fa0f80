/* SPDX-License-Identifier: BSD-2-Clause */
/* words.c - parses command arguments. Interface: debug.h. */
#include <kernel/debug/debug.h>
#include <kernel/kernel.h>

bool debug_is(const char *a, const char *b)
{
    return strlen(a) == strlen(b) && memcmp(a, b, strlen(a)) == 0;
}

const char *debug_value(const char *word, const char *name)
{
    size_t length = strlen(name);
    return strlen(word) > length && memcmp(word, name, length) == 0 && word[length] == '=' ? word + length + 1
                                                                                           : NULL;
}

void debug_refuse(const struct debug_words *words, uint32_t index)
{
    debug_print("%s: no such argument; help %s tells which there are\n", words->word[index], words->word[0]);
    debug_end_command();
}

static int digit_of(char c, uint64_t base)
{
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    return digit < (int)base ? digit : -1;
}

static bool parse_number(const char *text, uint64_t base, uint64_t *number)
{
    *number = 0;
    if (!*text)
        return false;
    for (; *text; text++) {
        int digit = digit_of(*text, base);
        if (digit < 0)
            return false;
        *number = *number * base + (uint64_t)digit;
    }
    return true;
}

static bool parse_any(const char *text, uint64_t *number)
{
    bool prefixed = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    return parse_number(prefixed ? text + 2 : text, prefixed ? 16 : 10, number);
}

uint64_t debug_number(const char *text)
{
    uint64_t number;
    if (!parse_any(text, &number)) {
        debug_print("%s: not a number\n", text);
        debug_end_command();
    }
    return number;
}

/* Users copy addresses from output, where they have no 0x. */
static bool parse_address(const char *text, uint64_t *address)
{
    struct debug_symbol symbol;
    if (debug_symbol_named(text, &symbol)) {
        *address = symbol.address;
        return true;
    }
    return parse_any(text, address) || parse_number(text, 16, address);
}

uint64_t debug_address(const char *text)
{
    char base[80];
    uint64_t address, offset = 0;
    size_t length = 0;
    while (text[length] && text[length] != '+' && length < sizeof base - 1)
        length++;
    memcpy(base, text, length);
    base[length] = 0;
    if (text[length] == '+')
        offset = debug_number(text + length + 1);
    if (!parse_address(base, &address)) {
        debug_print("%s: neither a symbol nor an address\n", base);
        debug_end_command();
    }
    return address + offset;
}
