/*
 * arch/x86_64/boot_mmu.c - the kernel's own page tables: direct map, kernel sections with their rights,
 * devices.
 *
 * boot_mmu_init() builds arch_kernel_space's root. Its upper half has all top-level entries that will ever be
 * used, so spaces copy them once and share all tables below (mmu.c). Later only arch_map_device(),
 * kernel_map_stacks() and arch_trace_map() change the tables, the first two on the boot CPU, the third under
 * its caller's lock.
 */
#include "mmu.h"
#include "port.h"
#include <arch/boot_memory.h>
#include <arch/clock.h>
#include <kernel/kernel.h>
#include <tarn/error.h>

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
uint64_t trace_rings_entry;

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
