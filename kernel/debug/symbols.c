/* SPDX-License-Identifier: BSD-2-Clause */
/* symbols.c - the kernel's own symbols. Their table is linked in: gen/symbolgen. */
#include <kernel/debug/debug.h>
#include <kernel/debug/debugger.h>
#include <kernel/debug/symbol_table.h>
#include <kernel/kernel.h>

extern const char kernel_start[], kernel_end[]; /* from the link script */

static bool symbol_nth(uint32_t index, struct debug_symbol *symbol)
{
    if (index >= debug_symbol_count)
        return false;
    const struct debug_symbol_entry *entry = &debug_symbol_entries[index];
    *symbol = (struct debug_symbol){debug_symbol_names + entry->name, (uint64_t)kernel_start + entry->offset};
    return true;
}

/* The last symbol that begins at or below the address. */
static bool symbol_at(uint64_t address, struct debug_symbol *symbol)
{
    uint64_t offset = address - (uint64_t)kernel_start;
    uint32_t low = 0,
             high = debug_symbol_count; /* the last one with entry.offset <= offset is in [low, high) */
    if (address < (uint64_t)kernel_start || address >= (uint64_t)kernel_end || high == 0)
        return false;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (debug_symbol_entries[middle].offset <= offset)
            low = middle;
        else
            high = middle;
    }
    return symbol_nth(low, symbol) && symbol->address <= address;
}

bool debug_symbol_named(const char *name, struct debug_symbol *symbol)
{
    for (uint32_t i = 0; symbol_nth(i, symbol); i++)
        if (!strcmp(symbol->name, name))
            return true;
    return false;
}

/* A return address may lie after the end of a function whose last call never returns. */
int debugger_symbol(char *text, size_t size, const struct space *space, uint64_t address, bool is_return)
{
    struct debug_symbol symbol;
    const uint64_t place = address - is_return;
    if (space ? !debug_user_symbol_at(space, place, &symbol) : !symbol_at(place, &symbol))
        return format_text(text, size, "%#lx", address);
    return format_text(text, size, "%s+%#lx", symbol.name, address - symbol.address);
}

const char *debug_name_of(const struct space *space, uint64_t address)
{
    static char text[160];
    debugger_symbol(text, sizeof text, space, address, false);
    return text;
}
