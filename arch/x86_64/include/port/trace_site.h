/*
 * port/trace_site.h (x86_64) - the inline part of <arch/trace_site.h>.
 *
 * A site is TESTL $displacement, %eax when it is off, and JMP by that displacement when it is on: they differ
 * in the first byte only, so a site may lie at any address, also across two pages.
 */
#pragma once

#define ARCH_TRACE_SITE_BYTES 5
#define ARCH_TRACE_SITE_ALIGN 1
#define SITE_OFF              0xa9
#define SITE_ON               0xe9

static inline bool arch_trace_site_is_valid(const void *code, int64_t distance)
{
    const uint8_t *bytes = code;
    int32_t displacement;
    __builtin_memcpy(&displacement, bytes + 1, sizeof displacement);
    return (bytes[0] == SITE_OFF || bytes[0] == SITE_ON) && displacement == distance - ARCH_TRACE_SITE_BYTES;
}

static inline bool arch_trace_site_is_on(const void *code)
{
    return *(const uint8_t *)code == SITE_ON;
}

static inline void arch_trace_site_switch(paddr_t site, int64_t distance, bool on)
{
    (void)distance; /* is in the site */
    uint8_t *byte = phys_to_virt(site);
    const uint8_t now = __atomic_load_n(byte, __ATOMIC_RELAXED);
    if (now == SITE_OFF || now == SITE_ON)
        __atomic_store_n(byte, on ? SITE_ON : SITE_OFF, __ATOMIC_RELAXED);
}

static inline void arch_sync_instructions(void)
{
    uint32_t leaf = 0, b, c, d; /* CPUID serializes */
    __asm__ volatile("cpuid" : "+a"(leaf), "=b"(b), "=c"(c), "=d"(d) : : "memory");
}
