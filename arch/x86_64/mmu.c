/*
 * arch/x86_64/mmu.c - roots of user spaces, and the trace rings: arch/mmu.h. User pages: arch/page_table.c.
 *
 * Four levels of 512 entries. A space's root shares the kernel's upper half and, at USER_TRACE_RINGS, the
 * trace rings' table. Everything else below is the space's own.
 */
#include "mmu.h"
#include "x86.h"
#include <kernel/kernel.h>
#include <kernel/memory/frame.h>
#include <tarn/abi.h>
#include <tarn/error.h>

extern struct trace_info trace_info_page; /* kernel/trace */

#define CPUID_ADDRESS_SIZES 0x80000008u

uint64_t *kernel_table_entry(uint64_t address)
{
    return page_table_find(arch_kernel_space->root, address, true);
}

int arch_space_init(struct arch_space *space)
{
    paddr_t frame = frame_alloc_zeroed();
    if (frame == FRAME_NONE)
        return -E_NO_MEMORY;
    uint64_t *root = phys_to_virt(frame);
    const uint64_t *kernel = phys_to_virt(arch_kernel_space->root);
    memcpy(root + TABLE_ENTRIES / 2, kernel + TABLE_ENTRIES / 2, 8 * TABLE_ENTRIES / 2);
    root[page_table_index(USER_TRACE_RINGS, PAGE_TABLE_LEVELS)] =
        trace_rings_entry | PTE_USER | PTE_NO_EXECUTE;
    space->root = frame;
    if (arch_map_page(space, USER_TRACE_INFO, virt_to_phys(&trace_info_page), MAP_READ)) {
        arch_space_destroy(space);
        return -E_NO_MEMORY;
    }
    return 0;
}

uint32_t arch_space_destroy(struct arch_space *space)
{
    uint32_t freed = page_table_free(space->root, USER_TRACE_RINGS) + 1;
    frame_free(space->root);
    space->root = FRAME_NONE;
    return freed;
}

/* Higher address bits are reserved: every access to a page that has one faults. */
uint64_t arch_physical_limit(void)
{
    bool has_sizes = read_cpuid(0x80000000).a >= CPUID_ADDRESS_SIZES;
    return 1ull << (has_sizes ? read_cpuid(CPUID_ADDRESS_SIZES).a & 0xff : 36);
}

/* One table for both: its entries have the user bit, the kernel's top-level entry does not (boot_mmu.c). */
int arch_trace_map(uint64_t offset, paddr_t frame)
{
    uint64_t *entry = kernel_table_entry(ARCH_TRACE_RINGS + offset);
    if (!entry)
        return -E_NO_MEMORY;
    *entry = page_entry(frame, MAP_READ | MAP_WRITE);
    page_tables_changed();
    return 0;
}
