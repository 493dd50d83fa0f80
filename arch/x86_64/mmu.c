/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch/x86_64/mmu.c - page tables of user spaces: arch/mmu.h.
 *
 * Four levels of 512 entries. A space's root shares the kernel's upper half and, at USER_TRACE_WINDOWS, the
 * trace windows' table. Everything else below is the space's own; tables come with the first page that needs
 * them and go with the space. The caller holds the space's lock, and flushes.
 */
#include "mmu.h"
#include "x86.h"
#include <kernel/frame.h>
#include <kernel/kernel.h>
#include <tarn/abi.h>
#include <tarn/error.h>

extern struct trace_info trace_info_page; /* trace/control */

#define CPUID_ADDRESS_SIZES 0x80000008u

/* Rights are decided by the last level; tables allow everything. */
#define TABLE_FLAGS (PTE_PRESENT | PTE_WRITE | PTE_USER)

static uint64_t *table_of(uint64_t entry)
{
    return phys_to_virt(entry & PTE_ADDRESS);
}

static uint64_t page_flags(uint32_t flags)
{
    return PTE_PRESENT | PTE_USER | (flags & MAP_WRITE ? PTE_WRITE : 0) |
           (flags & MAP_EXECUTE ? 0 : PTE_NO_EXECUTE) | (flags & MAP_UNCACHED ? PTE_UNCACHED : 0);
}

/* The last-level entry of an address; with `create`, missing tables are made. NULL: none, or no memory. */
static uint64_t *find_entry(paddr_t root, uint64_t address, bool create)
{
    uint64_t *table = phys_to_virt(root);
    for (unsigned level = 4; level > 1; level--) {
        uint64_t *entry = &table[table_index(address, level)];
        if (!(*entry & PTE_PRESENT)) {
            paddr_t frame = create ? frame_alloc_zeroed() : FRAME_NONE;
            if (frame == FRAME_NONE)
                return NULL;
            *entry = frame | TABLE_FLAGS;
        }
        table = table_of(*entry);
    }
    return &table[table_index(address, 1)];
}

uint64_t *kernel_table_entry(uint64_t address)
{
    return find_entry(arch_kernel_space->root, address, true);
}

int arch_space_init(struct arch_space *space)
{
    paddr_t frame = frame_alloc_zeroed();
    if (frame == FRAME_NONE)
        return -E_NO_MEMORY;
    uint64_t *root = phys_to_virt(frame);
    const uint64_t *kernel = phys_to_virt(arch_kernel_space->root);
    memcpy(root + TABLE_ENTRIES / 2, kernel + TABLE_ENTRIES / 2, 8 * TABLE_ENTRIES / 2);
    root[table_index(USER_TRACE_WINDOWS, 4)] = trace_windows_entry | PTE_USER | PTE_NO_EXECUTE;
    space->root = frame;
    if (arch_map_page(space, USER_TRACE_INFO, virt_to_phys(&trace_info_page), MAP_READ)) {
        arch_space_destroy(space);
        return -E_NO_MEMORY;
    }
    return 0;
}

/* Bits beyond are reserved: a page that has one faults for ever, whoever touches it. */
uint64_t arch_physical_limit(void)
{
    bool told = read_cpuid(0x80000000).a >= CPUID_ADDRESS_SIZES;
    return 1ull << (told ? read_cpuid(CPUID_ADDRESS_SIZES).a & 0xff : 36);
}

static uint32_t free_tables(paddr_t table_frame, unsigned level)
{
    uint32_t freed = 1;
    const uint64_t *table = phys_to_virt(table_frame);
    for (unsigned i = 0; level > 1 && i < TABLE_ENTRIES; i++)
        if (table[i] & PTE_PRESENT)
            freed += free_tables(table[i] & PTE_ADDRESS, level - 1);
    frame_free(table_frame);
    return freed;
}

uint32_t arch_space_destroy(struct arch_space *space)
{
    uint32_t freed = 1;
    const uint64_t *root = phys_to_virt(space->root);
    for (unsigned i = 0; i < TABLE_ENTRIES / 2; i++)
        if (root[i] & PTE_PRESENT && i != table_index(USER_TRACE_WINDOWS, 4))
            freed += free_tables(root[i] & PTE_ADDRESS, 3);
    frame_free(space->root);
    space->root = FRAME_NONE;
    return freed;
}

int arch_map_page(struct arch_space *space, uint64_t address, paddr_t frame, uint32_t flags)
{
    uint64_t *entry = find_entry(space->root, address, true);
    if (!entry)
        return -E_NO_MEMORY;
    *entry = frame | page_flags(flags);
    return 0;
}

paddr_t arch_unmap_page(struct arch_space *space, uint64_t address)
{
    uint64_t *entry = find_entry(space->root, address, false);
    if (!entry || !(*entry & PTE_PRESENT))
        return FRAME_NONE;
    paddr_t frame = *entry & PTE_ADDRESS;
    *entry = 0;
    return frame;
}

/* Changes every present page of a range by `change`; whole missing tables are skipped. */
static bool change_range(uint64_t *table, unsigned level, uint64_t start, uint64_t end,
                         void (*change)(uint64_t *entry, uint64_t argument), uint64_t argument)
{
    uint64_t step = 1ull << (12 + 9 * (level - 1));
    bool changed = false;
    while (start < end) {
        uint64_t next = (start & ~(step - 1)) + step;
        uint64_t stop = next < end ? next : end;
        uint64_t *entry = &table[table_index(start, level)];
        if (*entry & PTE_PRESENT) {
            if (level == 1) {
                change(entry, argument);
                changed = true;
            } else {
                changed |= change_range(table_of(*entry), level - 1, start, stop, change, argument);
            }
        }
        start = stop;
    }
    return changed;
}

static void clear_entry(uint64_t *entry, uint64_t argument)
{
    *entry = 0;
}

static void set_entry_flags(uint64_t *entry, uint64_t flags)
{
    *entry = (*entry & (PTE_ADDRESS | PTE_UNCACHED)) | flags;
}

bool arch_unmap_range(struct arch_space *space, uint64_t address, uint64_t size)
{
    return change_range(phys_to_virt(space->root), 4, address, address + size, clear_entry, 0);
}

bool arch_protect_range(struct arch_space *space, uint64_t address, uint64_t size, uint32_t flags)
{
    return change_range(phys_to_virt(space->root), 4, address, address + size, set_entry_flags,
                        page_flags(flags));
}

paddr_t arch_lookup_page(struct arch_space *space, uint64_t address, uint32_t *flags)
{
    const uint64_t *entry = find_entry(space->root, address, false);
    if (!entry || !(*entry & PTE_PRESENT))
        return FRAME_NONE;
    *flags = MAP_READ | (*entry & PTE_WRITE ? MAP_WRITE : 0) | (*entry & PTE_NO_EXECUTE ? 0 : MAP_EXECUTE) |
             (*entry & PTE_UNCACHED ? MAP_UNCACHED : 0);
    return *entry & PTE_ADDRESS;
}

/* Not global: users see the same pages through another address, and a change is flushed for all at once. */
int arch_trace_map(uint64_t offset, paddr_t frame)
{
    uint64_t *entry = kernel_table_entry(ARCH_TRACE_WINDOWS + offset);
    if (!entry)
        return -E_NO_MEMORY;
    *entry = frame == FRAME_NONE ? 0 : frame | PTE_PRESENT | PTE_WRITE | PTE_USER | PTE_NO_EXECUTE;
    return 0;
}
