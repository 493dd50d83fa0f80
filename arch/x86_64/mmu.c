/*
 * arch/x86_64/mmu.c - the kernel's own page tables, roots of user spaces, and the trace rings: arch/mmu.h.
 * User pages: arch/page_table.c.
 *
 * boot_mmu_init() builds arch_kernel_space's root: direct map, kernel sections with their rights, devices.
 * Its upper half has all top-level entries that will ever be used, so spaces copy them once and share all
 * tables below; at USER_TRACE_RINGS they share the trace rings' table. Later only arch_map_device(),
 * kernel_map_stacks() and arch_trace_map() change these tables, the first two on the boot CPU, the third
 * under its caller's lock.
 */
#include "port.h"
#include <arch/page_table.h>
#include <kernel/kernel.h>
#include <kernel/memory/frame.h>
#include <tarn/abi.h>
#include <tarn/error.h>

extern struct trace_info trace_info_page; /* kernel/trace */

static struct arch_space kernel_space;
struct arch_space *arch_kernel_space = &kernel_space;

/* From kernel.ld. */
extern const char kernel_start[], kernel_end[], rodata_start[], data_start[];
extern const char boot_stack_guard[]; /* start.S: directly below boot_stack */

static uint64_t *next_table(uint64_t *entry)
{
    if (!(*entry & PTE_PRESENT))
        *entry = boot_alloc_pages(4096) | PTE_PRESENT | PTE_WRITE;
    return phys_to_virt(*entry & PTE_ADDRESS);
}

static uint64_t *kernel_entry(uint64_t address, unsigned level)
{
    uint64_t *table = phys_to_virt(kernel_space.root);
    for (unsigned l = 4; l > level; l--)
        table = next_table(&table[page_table_index(address, l)]);
    return &table[page_table_index(address, level)];
}

/* Maps [base, end) with the largest pages that fit, at least 2 MiB. Devices that need another memory type
 * never share these with RAM (the memory types in the MTRRs take precedence). */
static void map_direct(uint64_t base, uint64_t end, bool huge)
{
    const uint64_t large_bytes = 1ull << 21, huge_bytes = 1ull << 30;
    const uint64_t flags = PTE_PRESENT | PTE_WRITE | PTE_LARGE | PTE_GLOBAL | PTE_NO_EXECUTE;
    base &= ~(large_bytes - 1);
    while (base < end) {
        uint64_t address = ARCH_DIRECT_MAP + base;
        if (huge && base % huge_bytes == 0 && end - base >= huge_bytes) {
            *kernel_entry(address, 3) = base | flags;
            base += huge_bytes;
            continue;
        }
        if (!(*kernel_entry(address, 3) & PTE_LARGE))
            *kernel_entry(address, 2) = base | flags;
        base += large_bytes;
    }
}

static void map_kernel(const char *start, const char *end, uint64_t flags)
{
    for (uint64_t at = (uint64_t)start; at < (uint64_t)end; at += 4096)
        *kernel_entry(at, 1) = (at - ARCH_KERNEL_BASE) | PTE_PRESENT | PTE_GLOBAL | flags;
}

/* The trace rings have one table, with the user bit in its entries. The kernel's top-level entry lacks the
 * user bit, so that SMAP lets the kernel write there; the user's has it (arch_space_init). */
static uint64_t trace_rings_entry;

void boot_mmu_init(void)
{
    bool huge = read_cpuid(0x80000001).d & 1u << 26;
    kernel_space.root = boot_alloc_pages(4096);
    for (uint32_t i = 0; i < boot_info.ram_count; i++) {
        const struct boot_range *ram = &boot_info.ram[i];
        uint64_t limit = ARCH_DIRECT_MAP_END - ARCH_DIRECT_MAP;
        if (ram->base < limit)
            map_direct(ram->base, ram->base + ram->size < limit ? ram->base + ram->size : limit, huge);
    }
    map_kernel(kernel_start, rodata_start, 0);
    map_kernel(rodata_start, data_start, PTE_NO_EXECUTE);
    map_kernel(data_start, boot_stack_guard, PTE_NO_EXECUTE | PTE_WRITE);
    map_kernel((const char *)boot_stack, kernel_end, PTE_NO_EXECUTE | PTE_WRITE);
    uint64_t *root = phys_to_virt(kernel_space.root);
    kernel_entry(ARCH_DEVICE_MAP, 1); /* so that the first 2 MiB of registers need no frames */
    next_table(&root[page_table_index(ARCH_TRACE_RINGS, 4)]);
    trace_rings_entry = root[page_table_index(ARCH_TRACE_RINGS, 4)];
    arch_space_switch(&kernel_space);
}

/* ---- spaces --------------------------------------------------------------------------------------- */

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

/* One table for both: its entries have the user bit, the kernel's top-level entry does not. */
int arch_trace_map(uint64_t offset, paddr_t frame)
{
    uint64_t *entry = kernel_table_entry(ARCH_TRACE_RINGS + offset);
    if (!entry)
        return -E_NO_MEMORY;
    *entry = page_entry(frame, MAP_READ | MAP_WRITE);
    page_tables_changed();
    return 0;
}
