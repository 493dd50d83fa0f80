/* SPDX-License-Identifier: BSD-2-Clause */
/* symbols.c - the kernel's own symbols. Their table is linked in: gen/symbolgen. */
#include <kernel/debug/debug.h>
#include <kernel/debug/debugger.h>
#include <kernel/debug/symbol_table.h>
#include <kernel/kernel.h>

extern const char kernel_start[], kernel_end[]; /* from the link script */

bool debug_symbol_nth(uint32_t index, struct debug_symbol *symbol)
{
    if (index >= debug_symbol_count)
        return false;
    const struct debug_symbol_entry *entry = &debug_symbol_entries[index];
    *symbol = (struct debug_symbol){debug_symbol_names + entry->name, (uint64_t)kernel_start + entry->offset};
    return true;
}

bool debug_symbol_at(uint64_t address, struct debug_symbol *symbol)
{
    uint64_t offset = address - (uint64_t)kernel_start;
    uint32_t low = 0,
             /* The last one with entry.offset <= offset is in [low, high). */
        high = debug_symbol_count;
    if (address < (uint64_t)kernel_start || address >= (uint64_t)kernel_end || high == 0)
        return false;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (debug_symbol_entries[middle].offset <= offset)
            low = middle;
        else
            high = middle;
    }
    return debug_symbol_nth(low, symbol) && symbol->address <= address;
}

bool debug_symbol_named(const char *name, struct debug_symbol *symbol)
{
    for (uint32_t i = 0; debug_symbol_nth(i, symbol); i++)
        if (!strcmp(symbol->name, name))
            return true;
    return false;
}

int debugger_symbol(char *text, size_t size, uint64_t address)
{
    struct debug_symbol symbol;
    if (!debug_symbol_at(address, &symbol))
        return format_text(text, size, "%#lx", address);
    return format_text(text, size, "%s+%#lx", symbol.name, address - symbol.address);
}

int debugger_return_symbol(char *text, size_t size, uint64_t address)
{
    struct debug_symbol symbol;
    if (!debug_symbol_at(address - 1, &symbol))
        return format_text(text, size, "%#lx", address);
    return format_text(text, size, "%s+%#lx", symbol.name, address - symbol.address);
}

const char *debug_name_of(uint64_t address)
{
    static char text[160];
    debugger_symbol(text, sizeof text, address);
    return text;
}
