/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * debugger.h - the interface of the kernel debugger, for the rest of the kernel and the ports.
 *
 * A session stops all CPUs, talks on the raw console, and then lets all CPUs continue exactly where they
 * were. It takes no lock, allocates nothing, and changes nothing except what a command asks for.
 */
#ifndef KERNEL_DEBUG_DEBUGGER_H
#define KERNEL_DEBUG_DEBUGGER_H

#include <arch/debug.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpu;
struct kernel_regs;
struct space;
struct thread;

/* ---- From anywhere ---- */

/* Starts a session on this CPU, and returns after `continue`. May be called anywhere in the kernel once the
 * CPU is online, with any locks held, even from an NMI (prefer the CPU that noticed a problem to the one
 * that hangs). `reason` must stay valid until then. In a session: ends the current command and does not
 * return. */
void debugger_enter(const char *reason);
/* Is a session active? Code that measures time must know about sessions; `debugger_sessions` counts those
 * that have ended. */
bool debugger_is_active(void);
uint32_t debugger_sessions(void);
/* Boot option `debug=1`: starts a session before the first program. */
void debugger_boot(void);

/* Formats an address as "sched_reschedule+0x1c", or as a number; returns like snprintf. Takes no locks, so
 * panics may use it. */
int debugger_symbol(char *text, size_t size, uint64_t address);
/* The same for a return address, which may be beyond the end of a function whose last call never returns. */
int debugger_return_symbol(char *text, size_t size, uint64_t address);
/* The same for a user address, with the symbols of the space's program in the boot archive. */
int debugger_user_symbol(char *text, size_t size, const struct space *space, uint64_t address);
int debugger_user_return_symbol(char *text, size_t size, const struct space *space, uint64_t address);

/* Reads a word of a CPU's kernel stacks, for arch_read_word; context: struct cpu. No locks. */
bool debug_read_kernel_word(void *cpu, uint64_t address, uint64_t *word);

/* Print call chains with symbols, without locks. The first: of the kernel code that a trap interrupted on
 * `cpu`. The second: of the program that called the kernel or, if regs is not NULL, was interrupted. */
void debugger_print_kernel_calls(struct cpu *cpu, const struct kernel_regs *regs, arch_print *print);
void debugger_print_user_calls(const struct thread *thread, const struct kernel_regs *regs,
                               arch_print *print);

/* ---- For a panic ---- */

/* Waits until no other CPU has a session. Meanwhile this CPU can be stopped, and shows `regs`. */
void debugger_wait(struct kernel_regs *regs);
/* The same, then stops all other CPUs for good, as for a session, which may follow. */
void debugger_hold(struct kernel_regs *regs);
/* Runs that session. Returns after `continue`; the other CPUs stay stopped. */
void debugger_of_panic(struct kernel_regs *regs, const char *reason);
/* Tells stopped CPUs to halt. */
void debugger_end(void);
bool debugger_have_ended(uint64_t which); /* bits: whether all of these CPUs have called debugger_note_end */
/* Registers of the CPU where it was stopped; NULL: it is not stopped. */
const struct kernel_regs *debugger_stopped_at(uint32_t cpu);

/* ---- From the console's interrupt ---- */

/* The keys that start a session: Ctrl-] twice, then d. */
#define DEBUGGER_KEY 0x1d
#define DEBUGGER_KEYS \
    "\x1d\x1d"        \
    "d"

/* ---- From traps ---- */

/* The kernel's breakpoint instruction; regs: execution continues after it. */
void debugger_trap(struct kernel_regs *regs);
/* Starts a session about what another trap interrupted, without a breakpoint. */
void debugger_enter_trap(struct kernel_regs *regs, const char *reason);
/* An NMI arrived. Returns true if it came to stop this CPU; the CPU continues now. */
bool debugger_stop(struct kernel_regs *regs);
/* The CPU is about to stop for good; its registers can be shown. */
void debugger_note_end(struct kernel_regs *regs);
/* An unexpected exception in kernel mode. If a session on this CPU caused it, ends the command and does not
 * return. address: what was accessed, or 0. */
void debugger_fault(uint64_t ip, uint64_t address);
/* The kernel is about to panic: the same, if a session caused it. */
void debugger_fail(const char *reason);
void debugger_poll(void); /* an IPI arrived, perhaps to stop this CPU */

#endif
