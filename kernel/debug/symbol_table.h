/* symbol_table.h - the table of the kernel's own symbols, in order of address. gen/symbolgen makes it. */
#pragma once

#include <stdint.h>

struct debug_symbol_entry {
    uint32_t offset; /* bytes from kernel_start (link script) */
    uint32_t name;   /* offset in debug_symbol_names */
};
extern const uint32_t debug_symbol_count;
extern const struct debug_symbol_entry debug_symbol_entries[];
extern const char debug_symbol_names[];
