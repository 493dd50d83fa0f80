/*
 * arch/kernel_map.c - kernel mappings outside the direct map, except the trace's windows: device registers,
 * and stacks above unmapped gaps. Interfaces: arch/mmu.h, arch/page_table.h.
 *
 * Only the boot CPU calls these, while it runs alone or starts the others. The addresses were not mapped
 * before, so no other CPU holds a stale translation.
 */
#include <arch/page_table.h>
#include <kernel/kernel.h>
#include <kernel/memory/frame.h>

static bool map(uint64_t address, paddr_t physical, uint32_t flags)
{
    uint64_t *entry = kernel_table_entry(address);
    if (entry)
        *entry = page_entry_kernel(physical, flags);
    return entry;
}

uint8_t *kernel_map_stacks(uint32_t index, unsigned order)
{
    uint64_t size = FRAME_SIZE << order, start = ARCH_STACKS + index * 2 * size + size;
    paddr_t frames = frame_alloc_order(order);
    if (frames == FRAME_NONE)
        return NULL;
    for (uint64_t at = 0; at < size; at += FRAME_SIZE)
        if (!map(start + at, frames + at, MAP_READ | MAP_WRITE))
            /* cannot happen on a machine with enough memory to be useful; leaks its frames */
            return NULL;
    page_tables_changed();
    return (uint8_t *)start;
}

/* Few mappings, never unmapped. */
void *arch_map_device(paddr_t address, uint64_t size)
{
    static uint64_t next = ARCH_DEVICE_MAP;
    uint64_t start = next, offset = address & (FRAME_SIZE - 1);
    for (uint64_t at = 0; at < offset + size; at += FRAME_SIZE, next += FRAME_SIZE)
        if (!map(next, address - offset + at, MAP_READ | MAP_WRITE | MAP_UNCACHED))
            panic("no memory to map device registers at %llx", (unsigned long long)address);
    page_tables_changed();
    return (void *)(start + offset);
}
