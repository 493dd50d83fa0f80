/*
 * arch/debug.h - what the kernel's debugger (kernel/debug) needs of a port.
 *
 * Every entry into the debugger, and every CPU that stops for it, goes through a trap, so that all registers
 * are in memory and are restored exactly. The trap is a breakpoint instruction in the kernel, which the port
 * passes to debugger_trap(), or a non-maskable interrupt, which it passes to debugger_stop(). struct
 * kernel_regs is the port's; generic code only passes it on.
 *
 * The port passes exceptions in kernel mode to debugger_fault() before anything else, because the debugger
 * itself may have caused them; see kernel/debug/debugger.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct arch_frame;
struct cpu;
struct kernel_regs; /* of a trap, from any mode */

/* Enters the debugger, and continues after it. Only when traps are handled on this CPU. */
static inline void arch_breakpoint(void);

/* Makes a CPU call debugger_stop(), with interrupts on or off. On some machines the CPU cannot continue if
 * this interrupts the first instructions of an entry into the kernel: try an IPI first, and make a progress
 * check. */
void arch_break_in(struct cpu *target);

/* Progress check of a CPU that does not answer: a vCPU that its host does not run is not a hang and must not
 * be broken into, because it may be right at its entry into the kernel. arch_request_progress() requests a
 * sign of progress without disturbing the CPU; arch_has_run(): whether it has begun to run since.
 * ARCH_PROGRESS_CHECKS of these, with some time after each, prove that it would have taken an interrupt if
 * interrupts were on. Where the port cannot find out, arch_has_run() is always true. Only one CPU at a time
 * may check a target.
 */
#define ARCH_PROGRESS_CHECKS 3u
void arch_request_progress(struct cpu *target);
bool arch_has_run(struct cpu *target);

/* ---- registers of a trap -------------------------------------------------------------------------- */

uint64_t arch_trap_ip(const struct kernel_regs *regs);
uint32_t arch_trap_vector(const struct kernel_regs *regs);        /* the CPU's number of it */
bool arch_trap_of_user(const struct kernel_regs *regs);           /* it interrupted user mode */
bool arch_trap_was_interruptible(const struct kernel_regs *regs); /* with interrupts on */

/* Prints registers as lines of text; `print`: as printf. arch_print_frame: a thread's, of user mode. */
typedef void arch_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
void arch_print_trap(const struct kernel_regs *regs, arch_print *print);
void arch_print_frame(const struct arch_frame *frame, arch_print *print);

/* Calls function(regs, argument) with the registers of the caller of the function with frame address `frame`
 * (which has just been entered; builds keep frame pointers), as right after that call. Registers that calls
 * do not preserve are 0. */
void arch_with_caller(const void *frame, void (*function)(struct kernel_regs *regs, void *argument),
                      void *argument);

/* Return addresses, innermost first, beginning with the next instruction; returns their number. `read` reads
 * memory and returns false where there is none: the chain ends there. */
typedef bool arch_read_word(void *context, uint64_t address, uint64_t *word);
uint32_t arch_trap_calls(const struct kernel_regs *regs, arch_read_word *read, void *context, uint64_t *chain,
                         uint32_t max);
uint32_t arch_frame_calls(const struct arch_frame *frame, arch_read_word *read, void *context,
                          uint64_t *chain, uint32_t max);
/* The entry that such a chain lacks: the return address of a function that has not made a frame. Arbitrary if
 * it has. Ports with a register for it put it second in chains, and return 0 here. */
uint64_t arch_trap_caller(const struct kernel_regs *regs, arch_read_word *read, void *context);
uint64_t arch_frame_caller(const struct arch_frame *frame, arch_read_word *read, void *context);

#include <port/debug.h>
