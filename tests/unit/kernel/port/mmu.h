/* SPDX-License-Identifier: BSD-2-Clause */
/* port/mmu.h (host tests) - RAM is an array, and page tables are a flat list (host.c). */
#ifndef PORT_MMU_H
#define PORT_MMU_H

#define HOST_RAM_BYTES (64ull << 20)
#define HOST_RAM_BASE  0x100000ull /* physical address of its first byte */
extern char *host_ram;

struct host_page {
    uint64_t address;
    paddr_t frame;
    uint32_t flags;
};
struct arch_space {
    struct host_page *pages;
    uint32_t count, capacity;
};

static inline void *phys_to_virt(paddr_t address)
{
    return host_ram + (address - HOST_RAM_BASE);
}
static inline paddr_t virt_to_phys(const void *address)
{
    return (paddr_t)((const char *)address - host_ram) + HOST_RAM_BASE;
}
static inline void arch_space_switch(struct arch_space *space)
{
}
static inline void arch_tlb_flush_page(uint64_t address)
{
}
static inline void arch_tlb_flush_all(void)
{
}
#endif
