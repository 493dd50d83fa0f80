/*
 * port/trace_site.h (ppc64) - the inline part of <arch/trace_site.h>.
 *
 * A site is NOP when it is off, and B to its target when it is on.
 *
 * The kernel's text has no writable mapping. So the store is made in real mode, where data accesses do not go
 * through page tables.
 */
#pragma once

#define ARCH_TRACE_SITE_BYTES 4
#define ARCH_TRACE_SITE_ALIGN 4
#define SITE_OFF              0x60000000u
#define SITE_REACH            (1ll << 25) /* of B, in bytes, each way */

static inline uint32_t port_site_on(int64_t distance)
{
    return 0x48000000u | ((uint32_t)distance & 0x03fffffcu);
}

static inline bool arch_trace_site_is_valid(const void *code, int64_t distance)
{
    const uint32_t now = __atomic_load_n((const uint32_t *)code, __ATOMIC_RELAXED);
    return distance % 4 == 0 && distance >= -SITE_REACH && distance < SITE_REACH &&
           (now == SITE_OFF || now == port_site_on(distance));
}

static inline bool arch_trace_site_is_on(const void *code)
{
    return *(const uint32_t *)code != SITE_OFF;
}

/* Without interrupts, which a profiling window lets through: they would begin in real mode. */
static inline void port_store_real(paddr_t address, uint32_t word)
{
    const uint64_t ee_dr = 0x8010;
    uint64_t msr, real;
    __asm__ volatile("mfmsr %0\n\t"
                     "andc %1, %0, %2\n\t"
                     "mtmsrd %1\n\t"
                     "isync\n\t"
                     "stw %4, 0(%3)\n\t"
                     "mtmsrd %0\n\t"
                     "isync"
                     : "=&r"(msr), "=&r"(real)
                     : "r"(ee_dr), "b"(address), "r"(word)
                     : "memory");
}

/* Then the word goes to memory, and the instruction caches of all CPUs drop it. */
static inline void arch_trace_site_switch(paddr_t site, int64_t distance, bool on)
{
    const void *code = phys_to_virt(site);
    if (!arch_trace_site_is_valid(code, distance))
        return;
    port_store_real(site, on ? port_site_on(distance) : SITE_OFF);
    __asm__ volatile("dcbst 0, %0\n\tsync\n\ticbi 0, %0\n\tsync" : : "r"(code) : "memory");
}

static inline void arch_sync_instructions(void)
{
    __asm__ volatile("isync" ::: "memory");
}
