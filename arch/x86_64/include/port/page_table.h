/*
 * port/page_table.h (x86_64) - format of page-table entries: the inline part of <arch/page_table.h>.
 */
#pragma once

#include <tarn/abi.h>

#define PAGE_TABLE_LEVELS 4

#define PTE_PRESENT    (1ull << 0)
#define PTE_WRITE      (1ull << 1)
#define PTE_USER       (1ull << 2)
#define PTE_UNCACHED   (3ull << 3) /* PWT, PCD */
#define PTE_LARGE      (1ull << 7)
#define PTE_GLOBAL     (1ull << 8)
#define PTE_NO_EXECUTE (1ull << 63)
#define PTE_ADDRESS    0x000ffffffffff000ull

static inline uint64_t page_table_index(uint64_t address, unsigned level)
{
    return address >> (12 + 9 * (level - 1)) & (TABLE_ENTRIES - 1);
}

static inline uint64_t page_table_entry(paddr_t table)
{
    return table | PTE_PRESENT | PTE_WRITE | PTE_USER;
}

static inline uint64_t page_entry(paddr_t frame, uint32_t flags)
{
    return frame | PTE_PRESENT | PTE_USER | (flags & MAP_WRITE ? PTE_WRITE : 0) |
           (flags & MAP_EXECUTE ? 0 : PTE_NO_EXECUTE) | (flags & MAP_UNCACHED ? PTE_UNCACHED : 0);
}

static inline uint64_t page_entry_kernel(paddr_t frame, uint32_t flags)
{
    return (page_entry(frame, flags) & ~PTE_USER) | PTE_GLOBAL;
}

static inline bool page_entry_present(uint64_t entry)
{
    return entry & PTE_PRESENT;
}

static inline paddr_t page_entry_address(uint64_t entry)
{
    return entry & PTE_ADDRESS;
}

static inline uint32_t page_entry_flags(uint64_t entry)
{
    return MAP_READ | (entry & PTE_WRITE ? MAP_WRITE : 0) | (entry & PTE_NO_EXECUTE ? 0 : MAP_EXECUTE) |
           (entry & PTE_UNCACHED ? MAP_UNCACHED : 0);
}

/* Stores are seen in order, also by page walks. */
static inline void page_tables_changed(void)
{
    __asm__ volatile("" ::: "memory");
}

/* Instruction caches track stores. */
static inline void page_sync_instructions(paddr_t frame)
{
}
