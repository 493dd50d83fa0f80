/* SPDX-License-Identifier: BSD-2-Clause */
/* port/cpu.h (host tests) - a CPU is a host thread that has chosen one of cpus[]. */
#ifndef PORT_CPU_H
#define PORT_CPU_H

#include <pthread.h>
#include <sched.h>

struct arch_cpu {
    int unused;
};
extern _Thread_local struct cpu *host_cpu;

static inline struct cpu *this_cpu(void)
{
    return host_cpu;
}
#define ARCH_CALL_ASIDE(function, argument) function(argument, 0)

static inline struct cpu *arch_cpu_pointer(void)
{
    return host_cpu;
}
static inline void arch_fence_after_store(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
static inline void arch_window_open(void)
{
}

static inline void arch_window_close(void)
{
}

#define ARCH_SWITCHED_RETURNS true
static inline int64_t arch_switched(void)
{
    return SYSCALL_NO_RESULT;
}
static inline void arch_relax(void)
{
    sched_yield();
}
static inline void arch_wait_for_interrupt(void)
{
    sched_yield();
}
/* The kernel has a function of this name, too. */
#define sched_yield kernel_sched_yield
#endif
