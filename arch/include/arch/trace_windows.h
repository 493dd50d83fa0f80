/* SPDX-License-Identifier: BSD-2-Clause */
/* arch/trace_windows.h - for <port/trace.h>: functions that depend only on the address of the windows,
 * ARCH_TRACE_WINDOWS in the kernel and USER_TRACE_WINDOWS in programs; contract in <arch/trace.h>. */
#ifndef ARCH_TRACE_WINDOWS_H
#define ARCH_TRACE_WINDOWS_H

#include <tarn/abi.h>

#ifdef TARN_KERNEL
#define PORT_TRACE_WINDOWS ARCH_TRACE_WINDOWS
#else
#define PORT_TRACE_WINDOWS USER_TRACE_WINDOWS
#endif

/* Before the windows are mapped the boot CPU logs into a window in the kernel's data. */
static inline uint32_t arch_trace_cpu(const char *window)
{
    uint64_t number = ((uint64_t)window - PORT_TRACE_WINDOWS) >> TRACE_WINDOW_SHIFT;
    return number < TRACE_CPUS_MAX ? number : 0;
}

#ifdef TARN_KERNEL
void trace_kernel_context(const char *window, struct trace_context *context); /* kernel/trace */
static inline void arch_trace_context(const char *window, struct trace_context *context)
{
    trace_kernel_context(window, context);
}
#endif

#endif
