/*
 * port/mmu.h (x86_64) - address map of the kernel, and the inline part of <arch/mmu.h>.
 *
 *   0000000000000000 - 00007fffffffffff   user
 *   ffff800000000000 + physical           direct map of RAM, large pages, never executable
 *   fffffe0000000000 (ARCH_TRACE_RINGS) trace rings: the table that user slot USER_TRACE_RINGS has
 *   fffffe8000000000                      device registers (arch_map_device)
 *   fffffec000000000 (ARCH_STACKS)        stacks of all CPUs but the first, each above a gap
 *   ffffffff80000000 + physical           the kernel: text, constants, data, each with its rights
 */
#pragma once

#define ARCH_DIRECT_MAP     0xffff800000000000ull
#define ARCH_DIRECT_MAP_END 0xffffc00000000000ull
#define ARCH_TRACE_RINGS    0xfffffe0000000000ull
#define ARCH_DEVICE_MAP     0xfffffe8000000000ull
#define ARCH_STACKS         0xfffffec000000000ull /* shares the top-level entry of ARCH_DEVICE_MAP */
#define ARCH_KERNEL_BASE    0xffffffff80000000ull

struct arch_space {
    paddr_t root;
};

static inline void *phys_to_virt(paddr_t address)
{
    return (void *)(ARCH_DIRECT_MAP + address);
}

static inline paddr_t virt_to_phys(const void *address)
{
    uint64_t virtual = (uint64_t)address;
    return virtual >= ARCH_KERNEL_BASE ? virtual - ARCH_KERNEL_BASE : virtual - ARCH_DIRECT_MAP;
}

static inline void arch_space_switch(struct arch_space *space)
{
    __asm__ volatile("movq %0, %%cr3" ::"r"(space->root) : "memory");
}

static inline void arch_tlb_flush_page(uint64_t address)
{
    __asm__ volatile("invlpg (%0)" ::"r"(address) : "memory");
}

static inline void arch_tlb_flush_all(void)
{
    uint64_t root;
    __asm__ volatile("movq %%cr3, %0\n\tmovq %0, %%cr3" : "=r"(root)::"memory");
}
