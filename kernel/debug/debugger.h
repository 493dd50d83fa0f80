/*
 * debugger.h - the kernel debugger, for the rest of the kernel and the ports.
 *
 * A session stops all CPUs, talks on the raw console, and lets them continue exactly where they were. It
 * takes no lock, allocates nothing, and changes only what a command asks for.
 */
#pragma once

#include <arch/debug.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct space;
struct thread;

/* ---- From anywhere ---- */

/* Starts a session on this CPU; returns after `continue`. From anywhere in the kernel once the CPU is
 * online, with any locks held, even from an NMI (better on the CPU that noticed a problem than on the one
 * that hangs). `reason` stays valid until then. In a session: ends the command, does not return. */
void debugger_enter(const char *reason);
/* Is a session active? Code that measures time must know; `debugger_sessions` counts those that ended. */
bool debugger_is_active(void);
uint32_t debugger_sessions(void);
/* Boot option `debug=1`: starts a session before the first program. */
void debugger_boot(void);

/* "sched_reschedule+0x1c", or the number; snprintf's result. `space`: of its program, whose symbols are in
 * the boot archive; NULL: of the kernel. is_return: it is a return address. Takes no locks, for panics. */
int debugger_symbol(char *text, size_t size, const struct space *space, uint64_t address, bool is_return);

/* Call chains with symbols, without locks: of the kernel code that a trap interrupted on `cpu`; of the
 * program that called the kernel or (regs not NULL) was interrupted. */
void debugger_print_kernel_calls(struct cpu *cpu, const struct kernel_regs *regs, arch_print *print);
void debugger_print_user_calls(const struct thread *thread, const struct kernel_regs *regs,
                               arch_print *print);

/* ---- For a panic ---- */

/* Waits until no other CPU has a session. This CPU can be stopped meanwhile, and shows `regs`. */
void debugger_wait(struct kernel_regs *regs);
/* The same, then stops all other CPUs for good; a session may follow. */
void debugger_hold(struct kernel_regs *regs);
/* That session. Returns after `continue`; the others stay stopped. */
void debugger_of_panic(struct kernel_regs *regs, const char *reason);
/* Stops the other CPUs for good, whatever they do. `self`: the caller's; NULL: too early to know. */
void debugger_end_others(const struct cpu *self);
/* Where the CPU was stopped; NULL: it was not. Valid during a session, a panic or an inspection. */
const struct kernel_regs *debugger_stopped_at(uint32_t cpu);

/* ---- For the watchdog ---- */

/* Does a CPU that does not respond still execute instructions? One that its host does not run is not hung,
 * and must not be broken into (arch_request_progress says why). A CPU is hung if it executes several times
 * and takes no interrupt, with time for a pending one after each. All zero: nothing checked yet. Used by the
 * CPU that checks; no other checks the same target. */
struct progress_check {
    uint32_t count; /* times that it has executed; ARCH_PROGRESS_CHECKS are enough */
    /* Ticks; 0: not yet. noted_at: when progress since the request was seen. */
    uint64_t requested_at, noted_at;
};

/* Continues the check without waiting. Call it until it returns true: the target takes no interrupts.
 * `grace`: ticks for the target after each sign of progress. */
bool progress_check_step(struct progress_check *check, struct cpu *target, uint64_t now, uint64_t grace);

/* Stops one CPU by an NMI, until debugger_release, which may be called for any CPU. After progress checks
 * (progress_check_step). */
void debugger_inspect(struct cpu *target);
void debugger_release(struct cpu *target);

/* ---- From the console's interrupt ---- */

/* The keys that start a session: Ctrl-] twice, then d. */
#define DEBUGGER_KEYS \
    "\x1d\x1d"        \
    "d"

/* ---- From traps ---- */

/* The kernel's breakpoint instruction; execution continues after it. */
void debugger_trap(struct kernel_regs *regs);
/* A session about what another trap interrupted, without a breakpoint. */
void debugger_enter_trap(struct kernel_regs *regs, const char *reason);
/* An NMI arrived. True: it came to stop this CPU, which continues now. Does not return if it stops for good.
 */
bool debugger_stop(struct kernel_regs *regs);
/* This CPU stops for good next; its registers can be shown. */
void debugger_note_end(struct kernel_regs *regs);
/* An unexpected exception in kernel mode. If a session on this CPU caused it: ends the command, does not
 * return. address: what was accessed, or 0. */
void debugger_fault(uint64_t ip, uint64_t address);
/* The kernel is about to panic: the same, if a session caused it. */
void debugger_fail(const char *reason);
void debugger_poll(void); /* an IPI arrived, perhaps to stop this CPU */
