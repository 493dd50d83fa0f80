/*
 * trace_port.h (xv6) - the kit's port for xv6 on RISC-V.
 *
 * The clock is `time`: RISC-V promises that it runs at a constant rate, does not stop, and is the same on all
 * CPUs to within a tick. `cycle` promises none of that. The price is its resolution, 100 ns on QEMU's virt.
 */
#pragma once

#define TRACE_PORT_CLOCK_HZ 10000000u /* of QEMU's virt */

static inline uint64_t trace_port_clock(void)
{
    uint64_t ticks;
    __asm__ volatile("rdtime %0" : "=r"(ticks) : : "memory");
    return ticks;
}

static inline uint64_t trace_port_cpu(void)
{
    uint64_t hart;
    __asm__ volatile("mv %0, tp" : "=r"(hart)); /* as cpuid() */
    return hart;
}

void trace_port_context(uint32_t cpu, struct trace_context *context); /* points.c */
