/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * port/mmu.h (ppc64) - address map of the kernel, and the inline part of <arch/mmu.h>.
 *
 *   0000000000000000 - 00007fffffffffff   user
 *   c000000000000000 + physical           direct map of RAM, large pages, not executable. In it, each with
 *                                         its rights: the exception vectors and the kernel image
 *   c008000000000000 (ARCH_TRACE_WINDOWS) trace windows: frames that users see at USER_TRACE_WINDOWS
 *   c00a000000000000                      device registers (arch_map_device)
 *   c00c000000000000 (ARCH_STACKS)        stacks of all processors but the first, each above a gap
 *
 * Addresses that begin with c are translated by the kernel's root, whoever runs: process 0 of the process
 * table. For users' addresses every processor has a process of its own, 1 + its index, whatever space it
 * runs: changing spaces means writing that process's entry, and forgetting what it led to before.
 */
#ifndef PORT_MMU_H
#define PORT_MMU_H

#include <arch/cpu.h>

#define ARCH_DIRECT_MAP    0xc000000000000000ull
#define ARCH_TRACE_WINDOWS 0xc008000000000000ull
#define ARCH_DEVICE_MAP    0xc00a000000000000ull
#define ARCH_STACKS        0xc00c000000000000ull

struct arch_space {
    paddr_t root;
    uint64_t process; /* what the process table says while a processor runs it: root and its size */
};

/* The process table, indexed by PIDR. Entry 1 + i is written by processor i only. */
struct process_entry {
    uint64_t root;
    uint64_t reserved;
};
#define PROCESS_TABLE_ENTRIES 256 /* 4 KiB, the least there is */
extern struct process_entry process_table[PROCESS_TABLE_ENTRIES];

static inline void *phys_to_virt(paddr_t address)
{
    return (void *)(ARCH_DIRECT_MAP + address);
}

static inline paddr_t virt_to_phys(const void *address)
{
    return (uint64_t)address - ARCH_DIRECT_MAP;
}

/* The first ptesync: what was stored before, the table's entry too, is seen by others and by this processor's
 * walks from here on. The second: what was translated before is done. What programs do next comes
 * after RFID, and the kernel's own user copies begin with ISYNC: none of it was begun with the old
 * translation. */
static inline void arch_tlb_flush_all(void)
{
    __asm__ volatile("ptesync\n\t"
                     "tlbiel %0, %1, 2, 1, 1\n\t" /* everything, page-walk caches too; by process; radix */
                     "ptesync" ::"r"(0x400ull),
                     "r"(this_arch_cpu()->process)
                     : "memory");
}

/* Who changed the entry waited until walks see it (page_tables_changed). */
static inline void arch_tlb_flush_page(uint64_t address)
{
    __asm__ volatile("tlbiel %0, %1, 0, 1, 1\n\tptesync" ::"r"(address & ~4095ull),
                     "r"(this_arch_cpu()->process)
                     : "memory");
}

static inline void arch_space_switch(struct arch_space *space)
{
    *(volatile uint64_t *)this_arch_cpu()->process_root = space->process;
    arch_tlb_flush_all();
}

#endif
