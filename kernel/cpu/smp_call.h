/* smp_call.h - smp calls: runs a function on other CPUs. */
#pragma once

#include <arch/cpu.h>
#include <stdint.h>

struct cpu;

/* Runs `function` on each CPU of `targets` (bits; online, not this one; may be none) and waits until all are
 * done. The function sees the caller's earlier stores, and the caller the function's. Hold no lock: a target
 * that spins for it would never respond. The function runs with interrupts off, in an interrupt or while the
 * target waits for an smp call of its own; it takes no lock for which a caller of smp_call may spin. */
void smp_call(uint64_t targets, void (*function)(void *argument), void *argument);

/* Like smp_call, but locks may be held: a target that spins for a lock runs the function, too, so the
 * function takes no lock. `kind`, IPI_CALL or IPI_SHOOTDOWN, is the reason in the trace. */
void smp_call_urgently(enum ipi_kind kind, uint64_t targets, void (*function)(void *argument),
                       void *argument);

/* Runs other CPUs' urgent calls. Every loop that spins in the kernel calls this. */
void smp_poll(void);
/* Runs all pending calls; the IPI's handler. */
void smp_answer(void);

/* For the debugger: the CPUs for whose answer `cpu` waits. */
uint64_t smp_unanswered(const struct cpu *cpu);
