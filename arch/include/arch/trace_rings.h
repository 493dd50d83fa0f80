/* arch/trace_rings.h - for <port/trace.h>: functions that ports have in common. The rings are at
 * ARCH_TRACE_RINGS in the kernel and at USER_TRACE_RINGS in programs; contract in <arch/trace.h>. */
#pragma once

#include <tarn/abi.h>

#ifdef TARN_KERNEL
#define PORT_TRACE_RINGS ARCH_TRACE_RINGS
#else
#include <arch/runtime.h>
#define PORT_TRACE_RINGS USER_TRACE_RINGS
#endif

/* Before the rings are mapped the boot CPU logs into a ring in the kernel's data. */
static inline uint32_t arch_trace_cpu(const char *ring)
{
    uint64_t number = ((uint64_t)ring - PORT_TRACE_RINGS) >> TRACE_RING_SHIFT;
    return number < TRACE_CPUS_MAX ? number : 0;
}

#ifdef TARN_KERNEL
void trace_kernel_context(const char *ring, struct trace_context *context); /* kernel/trace */
static inline void arch_trace_context(const char *ring, struct trace_context *context)
{
    trace_kernel_context(ring, context);
}

/* Interrupts are off in the kernel, so it stays on its CPU. */
static inline __attribute__((always_inline)) bool arch_trace_same_ring(const char *ring)
{
    return true;
}
#else
static inline void arch_trace_context(const char *ring, struct trace_context *context)
{
    const struct thread_block *block = arch_thread_block();
    context->pid = block->pid;
    context->tid = block->tid;
    for (unsigned i = 0; i < TRACE_NAME_BYTES; i++)
        context->name[i] = block->name[i];
}
#endif
