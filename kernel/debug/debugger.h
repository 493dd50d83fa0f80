/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/debug/debugger.h - the kernel's debugger, as the rest of the kernel and the ports see it.
 *
 * A session stops all CPUs, talks on the raw console, and lets all go on exactly where they were. It
 * takes no lock, allocates nothing, and changes nothing but what it is told to.
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

/* ---- For anyone ---- */

/* Begins a session on this CPU, and returns when somebody says `continue`. From anywhere in the kernel
 * once the CPU is online, whatever locks are held, also from an interrupt that nothing masks (better
 * than that: from the CPU that noticed something, about the one that hangs). `reason` is kept until
 * then. In a session: ends the command that runs, and does not return. */
void debugger_enter(const char *reason);
/* Is a session going on? Who watches over time must know that it stood still; `debugger_sessions` counts
 * those that ended. */
bool debugger_is_active(void);
uint32_t debugger_sessions(void);
/* Boot option `debug=1`: a session before the first program starts. */
void debugger_boot(void);

/* "sched_reschedule+0x1c", or the number; snprintf's result. No locks, so also for a panic. */
int debugger_symbol(char *text, size_t size, uint64_t address);
/* The same for a return address, which may lie behind the end of a function whose last call never returns. */
int debugger_return_symbol(char *text, size_t size, uint64_t address);
/* The same for a user address of a space: by the symbols of its program in the boot archive. */
int debugger_user_symbol(char *text, size_t size, const struct space *space, uint64_t address);
int debugger_user_return_symbol(char *text, size_t size, const struct space *space, uint64_t address);

/* arch_read_word of a CPU's kernel stacks; context: struct cpu. No locks. */
bool debug_read_kernel_word(void *cpu, uint64_t address, uint64_t *word);

/* Call chains as lines of text, with symbols; no locks. What a trap of kernel mode interrupted on `cpu`; what
 * the program does that was in the kernel on the thread's behalf, or (regs not NULL) was interrupted. */
void debugger_print_kernel_calls(struct cpu *cpu, const struct kernel_regs *regs, arch_print *print);
void debugger_print_user_calls(const struct thread *thread, const struct kernel_regs *regs,
                               arch_print *print);

/* ---- For a panic ---- */

/* Waits until nobody else has a session; this CPU, which shows `regs`, can be stopped meanwhile. */
void debugger_wait(struct kernel_regs *regs);
/* The same, then stops all other CPUs for good, as for a session, which may come later. */
void debugger_hold(struct kernel_regs *regs);
/* That session. Returns when somebody says `continue`; the others stay stopped. */
void debugger_of_panic(struct kernel_regs *regs, const char *reason);
/* Those that are stopped need no longer look for what else may be wanted of them. */
void debugger_end(void);
bool debugger_have_ended(uint64_t which); /* bits: all of them told debugger_note_end */
/* Where the CPU was stopped; NULL: it was not. */
const struct kernel_regs *debugger_stopped_at(uint32_t cpu);

/* ---- From the console's interrupt ---- */

/* The key sequence that begins a session: Ctrl-] twice, then d. */
#define DEBUGGER_KEY 0x1d
#define DEBUGGER_KEYS \
    "\x1d\x1d"        \
    "d"

/* ---- From traps ---- */

/* The kernel's breakpoint instruction; regs: what goes on behind it. */
void debugger_trap(struct kernel_regs *regs);
/* A session about what some other trap interrupted: debugger_enter without a trap of its own. */
void debugger_enter_trap(struct kernel_regs *regs, const char *reason);
/* An interrupt that nothing masks came. True: it was to stop this CPU, which goes on now. */
bool debugger_stop(struct kernel_regs *regs);
/* It came to stop this CPU for good, which is done next: there is something to be looked at. */
void debugger_note_end(struct kernel_regs *regs);
/* An exception of kernel mode that nobody deals with. Does not return if a session ran into it on this
 * CPU: the command ends. address: what was accessed, 0 if that says nothing. */
void debugger_fault(uint64_t ip, uint64_t address);
/* The kernel is about to panic: the same, if a session is to blame. */
void debugger_fail(const char *reason);
void debugger_poll(void); /* an IPI came, perhaps to stop this CPU */

#endif
