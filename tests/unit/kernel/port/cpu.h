/* port/cpu.h (host tests) - the test chooses which of cpus[] it is. */
#pragma once

#include <sched.h>

struct arch_cpu {
    int unused;
};
extern struct cpu *host_cpu;

static inline struct cpu *this_cpu(void)
{
    return host_cpu;
}
#define ARCH_CALL_ASIDE(function, argument) function(argument, 0)
#define ARCH_SWITCHED_RETURNS               true

static inline void arch_fence_after_store(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
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
