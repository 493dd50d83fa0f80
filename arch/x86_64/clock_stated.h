/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch/x86_64/clock_stated.h - the rate of the time-stamp counter as the CPU or the hypervisor states it.
 *
 * Pure functions, so that a test on the host can call them (arch/x86_64/test/clock_stated_test.c). Each
 * returns Hz, or 0 if nothing is stated.
 */
#ifndef CLOCK_STATED_H
#define CLOCK_STATED_H

#include <stdint.h>

/* CPUID leaf 0x15: the counter runs at ecx * ebx / eax; ecx is the crystal's rate in Hz (Intel SDM 3,
 * 19.7.3). */
static inline uint64_t tsc_of_crystal(uint32_t eax, uint32_t ebx, uint32_t ecx)
{
    return eax && ebx && ecx ? (uint64_t)ecx * ebx / eax : 0;
}

/* CPUID leaf 0x16: the base frequency in MHz, in the low half of eax. The counter's rate is close to it. */
static inline uint64_t tsc_of_base_frequency(uint32_t eax)
{
    return (eax & 0xffff) * 1000000ull;
}

/* The factors of KVM's clock: ns = (ticks << shift) * multiplier >> 32. Returns 0 for a shift outside
 * -32..31. */
static inline uint64_t tsc_of_kvm_clock(uint32_t multiplier, int8_t shift)
{
    if (!multiplier || shift < -32 || shift > 31)
        return 0;
    uint64_t hz = (1000000000ull << 32) / multiplier;
    return shift < 0 ? hz << -shift : hz >> shift;
}

#endif
