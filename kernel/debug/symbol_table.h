/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/debug/symbol_table.h - the table that gen/symbolgen.c makes of the kernel's own symbols, in order of
 * address.
 */
#ifndef KERNEL_DEBUG_SYMBOL_TABLE_H
#define KERNEL_DEBUG_SYMBOL_TABLE_H

#include <stdint.h>

struct debug_symbol_entry {
    uint32_t offset; /* bytes from kernel_start, the link script's */
    uint32_t name;   /* where in debug_symbol_names */
};
extern const uint32_t debug_symbol_count;
extern const struct debug_symbol_entry debug_symbol_entries[];
extern const char debug_symbol_names[];

#endif
