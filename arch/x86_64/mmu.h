/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch/x86_64/mmu.h - format of page-table entries, shared by mmu.c and boot_mmu.c.
 */
#ifndef MMU_H
#define MMU_H

#include <arch/mmu.h>

#define PTE_PRESENT    (1ull << 0)
#define PTE_WRITE      (1ull << 1)
#define PTE_USER       (1ull << 2)
#define PTE_UNCACHED   (3ull << 3) /* PWT, PCD */
#define PTE_LARGE      (1ull << 7)
#define PTE_GLOBAL     (1ull << 8)
#define PTE_NO_EXECUTE (1ull << 63)
#define PTE_ADDRESS    0x000ffffffffff000ull

#define TABLE_ENTRIES 512u

/* Level 4 is the root, level 1 holds pages of 4 KiB. */
static inline uint64_t table_index(uint64_t address, unsigned level)
{
    return address >> (12 + 9 * (level - 1)) & (TABLE_ENTRIES - 1);
}

extern uint64_t trace_windows_entry; /* top-level entry of the trace windows, as the kernel has it */

/* The last-level entry of a kernel address; tables are made where missing, from frame_alloc. NULL: no memory.
 */
uint64_t *kernel_table_entry(uint64_t address);

#endif
