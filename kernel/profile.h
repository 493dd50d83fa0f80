/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/profile.h - samples of what processors do, for the trace: events profile_sample.
 *
 * Each processor is sampled by its timer after so many ticks in which it did not sleep, a quarter more or
 * less at random, so that nothing periodic is always or never seen. An idle processor sleeps on, and what was
 * left of its period then counts on.
 *
 * The kernel runs with interrupts off, so most of it would never be seen. While sampling is on, system calls
 * and page faults run inside a window: the port lets the timer's interrupt come, and no other. That takes a
 * sample and nothing else: it reads the stack and logs, takes no lock, and changes nothing that the kernel it
 * interrupted could be in the middle of. Interrupts are off again when it returns, and the timer comes again
 * as soon as they are let in outside. What runs outside windows - entry and exit, the scheduler, the
 * interrupts' handlers - is sampled late, at its end, and samples say how late.
 */
#ifndef KERNEL_PROFILE_H
#define KERNEL_PROFILE_H

#include <arch/cpu.h>
#include <stdbool.h>
#include <stdint.h>

#define PROFILE_JITTER_PERCENT 25u
#define PROFILE_PERIOD_MIN_NS  20000ul
#define PROFILE_PERIOD_MAX_NS  10000000000ul

/* Inside struct cpu; its processor only. */
struct profile {
    uint64_t since;        /* ticks: it was not asleep since then; meaningless while it sleeps */
    uint64_t busy;         /* ticks since the last sample, those after `since` not counted */
    uint64_t instructions; /* the same of instructions */
    uint32_t counter;      /* arch_instructions() at `since` */
    uint64_t left;         /* while it sleeps: ticks to the next sample */
    uint64_t random;
    bool window; /* the timer may interrupt the kernel */
    bool came;   /* and did */
};

struct cpu;
struct kernel_regs;

extern uint64_t profile_period; /* ticks, the mean; 0: off. Written by profile_set, read by all */

/* Not 0: system calls go by syscall_traced, faults by the longer way, because their class is traced or
 * samples are taken. watch_entries(): either may have changed. */
extern uint8_t syscall_watched, fault_watched;
void watch_entries(void);

void profile_boot(void); /* the boot processor, before the others come: `profile=US` */
void profile_init_cpu(struct cpu *cpu);
/* 0: off. -E_BAD_ARGUMENT. Nothing held: interrupts all processors, and waits for them. */
int64_t profile_set(uint64_t period_ns);
void profile_statedump(void);

/* The timer came, out of user mode or while this processor slept. */
void profile_timer(uint64_t now);
/* The timer came inside a window (this_cpu()->profile.window). The port then goes back with interrupts off.
 */
void profile_kernel(const struct kernel_regs *regs);

/* By the idle loop, around its sleep. */
void profile_sleep(void);
void profile_wake(void);

/* Only while profile_period is not 0. Windows do not nest; who closes none was in none. */
void profile_open_window(void);
void profile_close_window(void);

#endif
