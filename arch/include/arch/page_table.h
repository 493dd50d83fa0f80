/*
 * arch/page_table.h - page tables that are trees, without the format of an entry.
 *
 * For ports whose CPU walks a tree of tables: arch/page_table.c and arch/kernel_map.c implement
 * arch_map_page, arch_unmap_range, arch_protect_range, arch_lookup_page and arch_map_device of <arch/mmu.h>.
 * The port's struct arch_space has a member `root`, and its <port/page_table.h> defines the format of an
 * entry: 64 bits, as the CPU reads them. Level PAGE_TABLE_LEVELS is the root, level 1 holds pages of 4 KiB;
 * tables below the root are one frame each.
 */
#pragma once

#include <arch/mmu.h>

#define TABLE_ENTRIES 512u /* of a table that is one frame: all but the root are */

/* The index of an address in a table of this level. */
static inline uint64_t page_table_index(uint64_t address, unsigned level);

/* An entry that points to a table; the last level decides rights. */
static inline uint64_t page_table_entry(paddr_t table);
/* A last-level entry for users. flags: MAP_*. */
static inline uint64_t page_entry(paddr_t frame, uint32_t flags);
/* A page that only the kernel may access. */
static inline uint64_t page_entry_kernel(paddr_t frame, uint32_t flags);
static inline bool page_entry_present(uint64_t entry); /* of any level */
static inline paddr_t page_entry_address(uint64_t entry);
static inline uint32_t page_entry_flags(uint64_t entry); /* MAP_* of a last-level entry */

/* Call after changing entries. When it returns, every CPU's table walk sees them. */
static inline void page_tables_changed(void);
/* Call after storing code to the frame: CPUs that fetch from it get the new code, not stale contents of an
 * instruction cache. */
static inline void page_sync_instructions(paddr_t frame);

#include <port/page_table.h>

static inline uint64_t page_table_span(unsigned level)
{
    return 1ull << (12 + 9 * (level - 1));
}

/* The last-level entry of an address; `create` allocates missing tables. NULL: none, or no memory. The
 * space's lock must be held; for kernel tables see kernel_table_entry. */
uint64_t *page_table_find(paddr_t root, uint64_t address, bool create);
/* Frees the tables of all user addresses below `end`, where an entry of the root begins, but not the root.
 * Returns the frames freed. */
uint32_t page_table_free(paddr_t root, uint64_t end);

/* ---- the kernel's own mappings: arch/kernel_map.c ------------------------------------------------- */

/* Implemented by the port: the last-level entry of a kernel address, with missing tables allocated. NULL: no
 * memory. The caller that changes it calls page_tables_changed(). Only the boot CPU changes entries of
 * ARCH_DEVICE_MAP and ARCH_STACKS, only arch_trace_map those of ARCH_TRACE_RINGS. */
uint64_t *kernel_table_entry(uint64_t address);

/* Maps the stacks of a CPU to be started, 2^order frames, above an unmapped gap of the same size. NULL: no
 * memory. */
uint8_t *kernel_map_stacks(uint32_t index, unsigned order);
