/* SPDX-License-Identifier: BSD-2-Clause */
/* smp_call.h - smp calls: runs a function on other CPUs. */
#ifndef KERNEL_CALL_H
#define KERNEL_CALL_H

#include <arch/cpu.h>
#include <stdint.h>

struct cpu;

/* Runs `function` on each CPU of `targets` (bits; online, not this one) and waits until all are done. The
 * function sees what the caller stored before, and the caller what the function stored. Hold no lock: a
 * target that spins for it would never respond. The function runs with interrupts off, in an interrupt or
 * while the target waits for an smp call of its own; it takes no lock for which a caller of this may spin. */
void smp_call(uint64_t targets, void (*function)(void *argument), void *argument);

/* The same, also while locks are held, because a target that spins for a lock runs the function, too. So the
 * function takes no lock. `kind`: IPI_CALL or IPI_SHOOTDOWN, which tells the trace what it was for. */
void smp_call_urgently(enum ipi_kind kind, uint64_t targets, void (*function)(void *argument),
                       void *argument);

/* Answers other CPUs' urgent calls. Called by everything that spins in the kernel. */
void smp_poll(void);
/* Answers all calls; from the interrupt. */
void smp_answer(void);

/* For the debugger: the CPUs for whose answer `cpu` waits, and those that wait for its answer. */
uint64_t smp_unanswered(const struct cpu *cpu);
uint64_t smp_pending(const struct cpu *cpu);

#endif
