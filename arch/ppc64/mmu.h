/*
 * arch/ppc64/mmu.h - the kernel's own tables, shared by mmu.c and boot_mmu.c.
 */
#pragma once

#include <arch/page_table.h>

extern paddr_t kernel_root;        /* of process 0 */
extern uint64_t trace_rings_entry; /* a root's entry for USER_TRACE_RINGS, the same in all spaces */

#define KERNEL_DATA (PTE_PAGE | PTE_PRIVILEGED | PTE_READ | PTE_WRITE)

/* The process-table entry for a root table: address space of 2^52 bytes, root of 2^ROOT_BITS entries. */
static inline uint64_t process_of_root(paddr_t root)
{
    return 2ull << 61 | 5ull << 5 | root | ROOT_BITS;
}
