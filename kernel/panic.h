/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/panic.h - what the rest of the kernel must know of a panic; to panic: kernel.h.
 *
 * Boot options: `panic=` end, debugger, reboot, halt, dump; `panic.lines=N`; `nmi=` report, debugger, panic.
 * boot/README.md says what they mean.
 */
#ifndef KERNEL_PANIC_H
#define KERNEL_PANIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_regs;

/* Reads the boot options, and says what is wrong with them. Before that the defaults hold. */
void panic_boot_options(void);
uint32_t panic_lines(void); /* of a report */

/* Has some processor panicked? From then on the console is that one's: it takes no lock, and what others
 * would print is dropped. */
bool panic_is_on(void);
bool panic_is_here(void); /* on this processor */

/* Text to the raw console, whoever else is at it; "\n" becomes "\r\n". (log.c) */
void panic_console_put(const char *text, size_t size);

void panic_interrupt(void); /* an NMI came, and a panic is on */

/* For tests: how a panic copes when it meets faults itself. Each part of the next one begins with a fault. */
void panic_test_faults(void);

#endif
