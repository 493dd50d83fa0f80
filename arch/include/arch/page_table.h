/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch/page_table.h - page tables that are trees, less what an entry looks like.
 *
 * For ports whose processor walks a tree of tables: arch/page_table.c and arch/kernel_map.c give
 * arch_map_page, arch_unmap_range, arch_protect_range, arch_lookup_page and arch_map_device of <arch/mmu.h>.
 * The port's struct arch_space has a member `root`, and its <port/page_table.h> says what an entry looks
 * like: 64 bits, as the processor reads them. Level PAGE_TABLE_LEVELS is the root, level 1 holds pages of 4
 * KiB; tables below the root are one frame each.
 */
#ifndef ARCH_PAGE_TABLE_H
#define ARCH_PAGE_TABLE_H

#include <arch/mmu.h>

/* Which entry of a table of this level an address selects. */
static inline uint64_t page_table_index(uint64_t address, unsigned level);

/* An entry that leads to a table; rights are decided by the last level. */
static inline uint64_t page_table_entry(paddr_t table);
/* A last-level entry for users. flags: MAP_*. */
static inline uint64_t page_entry(paddr_t frame, uint32_t flags);
/* The same for the kernel alone: no program gets there. */
static inline uint64_t page_entry_kernel(paddr_t frame, uint32_t flags);
static inline bool page_entry_present(uint64_t entry); /* of any level */
static inline paddr_t page_entry_address(uint64_t entry);
static inline uint32_t page_entry_flags(uint64_t entry); /* MAP_* of a last-level entry */

/* Entries have changed. When it returns, every processor's walker sees them. */
static inline void page_tables_changed(void);
/* Code was stored to the frame; processors that fetch from it get what was stored, not what an instruction
 * cache kept of the frame's last life. */
static inline void page_fetch_anew(paddr_t frame);

#include <port/page_table.h>

/* The bytes that one entry of a level stands for. */
static inline uint64_t page_table_span(unsigned level)
{
    return 1ull << (12 + 9 * (level - 1)); /* tables of one frame, but for the root, have 512 entries */
}

/* The last-level entry of an address; with `create`, missing tables are made of frames. NULL: none, or no
 * memory. Lock of the space held; of kernel tables, see kernel_table_entry. */
uint64_t *page_table_find(paddr_t root, uint64_t address, bool create);
/* Frees the tables of all users' addresses below `end`, which a root's entry begins at, not the root. How
 * many frames. */
uint32_t page_table_free(paddr_t root, uint64_t end);

/* ---- the kernel's own mappings: arch/kernel_map.c ------------------------------------------------- */

/* By the port: the last-level entry of a kernel address; tables are made of frames where missing. NULL: no
 * memory. Who changed it calls page_tables_changed(). The boot processor changes what is below
 * ARCH_DEVICE_MAP and ARCH_STACKS, arch_trace_map what is below ARCH_TRACE_WINDOWS. */
uint64_t *kernel_table_entry(uint64_t address);

/* The stacks of a processor that is to be started, 2^order frames, with as much of nothing below them. NULL:
 * no memory. */
uint8_t *kernel_map_stacks(uint32_t index, unsigned order);

#endif
