/*
 * profile.h - sampling profiler: logs profile_sample events.
 *
 * Each CPU is sampled after a period in which it did not sleep. The period varies at random by a quarter, so
 * that periodic work is neither always nor never sampled. An idle CPU sleeps on; the rest of its period
 * counts when it wakes up.
 *
 * The kernel runs with interrupts off, so most of it would never be sampled. While sampling is on, system
 * calls and page faults run inside a *profiling window*: the port lets the timer's interrupt through, and
 * no other. The handler only takes a sample: it reads the stack and logs, takes no lock, and changes
 * nothing that the interrupted kernel may be using. It returns with interrupts off, and the timer interrupt
 * comes again when interrupts are enabled outside the window. Code outside windows (entry and exit, the
 * scheduler, interrupt handlers) is sampled late, at its end; the sample says how late.
 */
#pragma once

#include <arch/cpu.h>
#include <stdbool.h>
#include <stdint.h>

#define PROFILE_JITTER_PERCENT 25u
#define PROFILE_PERIOD_MIN_NS  20000ul
#define PROFILE_PERIOD_MAX_NS  10000000000ul

struct kernel_regs;

extern uint64_t profile_period; /* mean period, in ticks; 0: off */

void profile_init_cpu(struct cpu *cpu);
/* Sets the mean period, in nanoseconds; 0: off. -E_BAD_ARGUMENT. Hold no locks: it interrupts all CPUs and
 * waits for them. */
int64_t profile_set(uint64_t period);
void profile_statedump(void);

/* The timer interrupted user mode or the sleep of this CPU. */
void profile_timer(uint64_t now);
/* The timer interrupted a window (this_cpu()->profile.window). The port then returns with interrupts off. */
void profile_kernel(const struct kernel_regs *regs);

/* Only while profile_period is not 0. Windows do not nest. */
void profile_open_window(void);
