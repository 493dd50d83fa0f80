/*
 * port/mmu.h (ppc64) - address map of the kernel, and the inline part of <arch/mmu.h>.
 *
 *   0000000000000000 - 00007fffffffffff   user
 *   c000000000000000 + physical           direct map of RAM, large pages, not executable. In it, each with
 *                                         its own rights: the exception vectors and the kernel
 *   c008000000000000 (ARCH_TRACE_RINGS) trace rings: the frames that programs see at USER_TRACE_RINGS
 *   c00a000000000000                      device registers (arch_map_device)
 *   c00c000000000000 (ARCH_STACKS)        stacks of all CPUs but the first, each above a gap
 *
 * Process 0 of the process table translates addresses that begin with c; user addresses on CPU i are
 * translated by process 1 + i (README.md).
 */
#pragma once

#include <arch/cpu.h>

#define ARCH_DIRECT_MAP  0xc000000000000000ull
#define ARCH_TRACE_RINGS 0xc008000000000000ull
#define ARCH_DEVICE_MAP  0xc00a000000000000ull
#define ARCH_STACKS      0xc00c000000000000ull

struct arch_space {
    paddr_t root;
    uint64_t process; /* value of the process-table entry while a CPU runs the space: root and its size */
};

/* The process table, indexed by PIDR. Only CPU i writes entry 1 + i. */
struct process_entry {
    uint64_t root;
    uint64_t reserved;
};
#define PROCESS_TABLE_ENTRIES 256 /* 4 KiB, the minimum */
extern struct process_entry process_table[PROCESS_TABLE_ENTRIES];

static inline void *phys_to_virt(paddr_t address)
{
    return (void *)(ARCH_DIRECT_MAP + address);
}

static inline paddr_t virt_to_phys(const void *address)
{
    return (uint64_t)address - ARCH_DIRECT_MAP;
}

/* The first ptesync: earlier stores, including the table's entry, are visible to other CPUs and to this CPU's
 * walks from here on. The second: earlier translations are dropped. Later accesses of programs follow an
 * RFID, and the kernel's user copies begin with ISYNC: none of them uses an old translation. */
static inline void arch_tlb_flush_all(void)
{
    __asm__ volatile("ptesync\n\t"
                     "tlbiel %0, %1, 2, 1, 1\n\t" /* everything, also page-walk caches; by process; radix */
                     "ptesync" ::"r"(0x400ull),
                     "r"(this_arch_cpu()->process)
                     : "memory");
}

/* The CPU that changed the entry has waited until walks see it (page_tables_changed). */
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
