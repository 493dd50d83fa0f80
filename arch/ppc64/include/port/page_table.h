/*
 * port/page_table.h (ppc64) - format of radix page-table entries (Power ISA 3.0B book III, 5.7.10): the
 * inline part of <arch/page_table.h>.
 *
 * POWER9 has one geometry: a root of 8192 entries, then three levels of 512.
 */
#pragma once

#include <tarn/abi.h>

#define PAGE_TABLE_LEVELS 4

#define PTE_VALID      (1ull << 63)
#define PTE_LEAF       (1ull << 62)
#define PTE_ADDRESS    0x01fffffffffff000ull
/* this and the next are always set, so that the CPU never writes to tables */
#define PTE_REFERENCED (1ull << 8)
#define PTE_CHANGED    (1ull << 7)
#define PTE_UNCACHED   (2ull << 4) /* non-idempotent I/O: uncached, guarded, in order */
#define PTE_PRIVILEGED (1ull << 3) /* kernel only; without it AMR and IAMR apply to the kernel */
#define PTE_READ       (1ull << 2)
#define PTE_WRITE      (1ull << 1)
#define PTE_EXECUTE    (1ull << 0)
#define PTE_PAGE       (PTE_VALID | PTE_LEAF | PTE_REFERENCED | PTE_CHANGED)
#define PDE_NEXT_BITS  9ull /* log2 of the entries of the next table */

#define ROOT_BITS  13
#define ROOT_BYTES (8ull << ROOT_BITS)
#define ROOT_ORDER 4 /* in frames */

static inline uint64_t page_table_index(uint64_t address, unsigned level)
{
    return address >> (12 + 9 * (level - 1)) & ((1ull << (level == PAGE_TABLE_LEVELS ? ROOT_BITS : 9)) - 1);
}

static inline uint64_t page_table_entry(paddr_t table)
{
    return PTE_VALID | table | PDE_NEXT_BITS;
}

static inline uint64_t page_entry(paddr_t frame, uint32_t flags)
{
    return PTE_PAGE | frame | (flags & MAP_READ ? PTE_READ : 0) | (flags & MAP_WRITE ? PTE_WRITE : 0) |
           (flags & MAP_EXECUTE ? PTE_EXECUTE : 0) | (flags & MAP_UNCACHED ? PTE_UNCACHED : 0);
}

static inline uint64_t page_entry_kernel(paddr_t frame, uint32_t flags)
{
    return page_entry(frame, flags) | PTE_PRIVILEGED;
}

static inline bool page_entry_present(uint64_t entry)
{
    return entry & PTE_VALID;
}

static inline paddr_t page_entry_address(uint64_t entry)
{
    return entry & PTE_ADDRESS;
}

static inline uint32_t page_entry_flags(uint64_t entry)
{
    return (entry & PTE_READ ? MAP_READ : 0) | (entry & PTE_WRITE ? MAP_WRITE : 0) |
           (entry & PTE_EXECUTE ? MAP_EXECUTE : 0) | (entry & PTE_UNCACHED ? MAP_UNCACHED : 0);
}

/* Only ptesync orders stores before table walks. */
static inline void page_tables_changed(void)
{
    __asm__ volatile("ptesync" ::: "memory");
}

/* POWER4 and its successors keep instruction caches coherent in hardware. The icbi, of any block, makes this
 * CPU drop prefetched instructions, as rfid does, by which others reach the frame. */
static inline void page_sync_instructions(paddr_t frame)
{
    __asm__ volatile("sync\n\ticbi 0, %0\n\tsync\n\tisync" ::"r"(phys_to_virt(frame)) : "memory");
}
