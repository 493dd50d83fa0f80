/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch/debug.h - what the kernel's debugger (kernel/debug) needs of a port.
 *
 * Every way into the debugger, and every processor that stops for it, passes through a trap, so that all
 * registers are in memory and come back exactly: a breakpoint instruction of the kernel, which the port hands
 * to debugger_trap(), or an interrupt that nothing masks, which it hands to debugger_stop(). What the port
 * stored then is struct kernel_regs; generic code only passes it on.
 *
 * What the debugger itself runs into, the port hands to debugger_fault() before it does anything else about
 * an exception of kernel mode; see kernel/debug/debugger.h.
 */
#ifndef ARCH_DEBUG_H
#define ARCH_DEBUG_H

#include <stdbool.h>
#include <stdint.h>

struct arch_frame;
struct cpu;
struct kernel_regs; /* of a trap, whatever it interrupted */

/* Enters the debugger, and goes on behind it. Only once traps are caught on this processor. */
static inline void arch_breakpoint(void);

/* Makes a processor call debugger_stop(), wherever it is, with interrupts on or off. Where the machine cannot
 * tell afterwards what it interrupted (the first instructions of an entry into the kernel, on some machines)
 * that processor cannot go on: ask it by an IPI first, and have it proved that it executes. */
void arch_break_in(struct cpu *target);

/* Does a processor that does not answer execute anything, or does its host not run it? One that is not run
 * may be just at its entry into the kernel, with the interrupt that it owes an answer, so it is no hang and
 * no target for a break-in. arch_nudge() asks for a proof, and disturbs nothing; arch_has_run(): it has begun
 * to run since. Several in a row, with some time behind each, prove that it would have taken an interrupt if
 * it took any. Where the port cannot find out, arch_has_run() is always true. One nudger at a time for each
 * target: of two the last counts. */
#define ARCH_PROOFS 3u
void arch_nudge(struct cpu *target);
bool arch_has_run(struct cpu *target);

/* ---- what a trap found ---------------------------------------------------------------------------- */

uint64_t arch_trap_ip(const struct kernel_regs *regs);
bool arch_trap_of_user(const struct kernel_regs *regs);           /* it interrupted user mode */
bool arch_trap_was_interruptible(const struct kernel_regs *regs); /* with interrupts on */

/* Registers as lines of text; `print` is printf. arch_print_frame: a thread's, of user mode. */
typedef void arch_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
void arch_print_trap(const struct kernel_regs *regs, arch_print *print);
void arch_print_frame(const struct arch_frame *frame, arch_print *print);

/* Calls function(regs, argument) with the registers of who called the function whose frame address this is
 * (it has just been entered; builds keep frame pointers), just behind that call; of others than those that
 * calls keep nothing is known: 0. */
void arch_with_caller(const void *frame, void (*function)(struct kernel_regs *regs, void *argument),
                      void *argument);

/* Return addresses, innermost first, beginning with the instruction that was to be executed; how many. Memory
 * is read by `read`, which says whether there is any: the chain ends where there is none. */
typedef bool arch_read_word(void *context, uint64_t address, uint64_t *word);
uint32_t arch_trap_calls(const struct kernel_regs *regs, arch_read_word *read, void *context, uint64_t *chain,
                         uint32_t max);
uint32_t arch_frame_calls(const struct arch_frame *frame, arch_read_word *read, void *context,
                          uint64_t *chain, uint32_t max);
/* What such a chain lacks: the return address of a function that has made no frame, if it is one. Anything if
 * it has. Ports that have a register for it tell that second in chains, and here 0. */
uint64_t arch_trap_caller(const struct kernel_regs *regs, arch_read_word *read, void *context);
uint64_t arch_frame_caller(const struct arch_frame *frame, arch_read_word *read, void *context);
/* Is it in this processor's kernel stacks? */
bool arch_is_on_stack(const struct cpu *cpu, uint64_t address);

#include <port/debug.h>
#endif
