/* SPDX-License-Identifier: BSD-2-Clause */
/* words.c - parses command arguments. Interface: debug.h. */
#include <kernel/cpu/cpu.h>
#include <kernel/debug/debug.h>
#include <kernel/kernel.h>
#include <trace/print/words.h>

const char *debug_value(const char *word, const char *name)
{
    size_t length = strlen(name);
    return strlen(word) > length && memcmp(word, name, length) == 0 && word[length] == '=' ? word + length + 1
                                                                                           : NULL;
}

void debug_refuse(const struct debug_words *words, uint32_t index)
{
    debug_print("%s: no such argument; see help %s\n", words->word[index], words->word[0]);
    debug_end_command();
}

uint64_t debug_number(const char *text)
{
    uint64_t number;
    if (!trace_parse_number(text, strlen(text), &number)) {
        debug_print("%s: not a number\n", text);
        debug_end_command();
    }
    return number;
}

/* Users copy addresses from output, where they have no 0x. */
static bool parse_address(const char *text, uint64_t *address)
{
    struct debug_symbol symbol;
    char prefixed[20];
    if (debug_symbol_named(text, &symbol)) {
        *address = symbol.address;
        return true;
    }
    format_text(prefixed, sizeof prefixed, "0x%s", text);
    return trace_parse_number(text, strlen(text), address) ||
           (strlen(text) <= 16 && trace_parse_number(prefixed, strlen(prefixed), address));
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

struct cpu *debug_cpu(const char *text)
{
    uint64_t number = debug_number(text);
    if (number < cpu_count)
        return &cpus[number];
    debug_print("no cpu %s; there are %u\n", text, cpu_count);
    debug_end_command();
}
