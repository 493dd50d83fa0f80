/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * panic.h - panics, as far as the rest of the kernel needs to know. To panic, see kernel.h.
 *
 * Boot options, described in boot/README.md: `panic=` end, debugger, reboot, halt, dump; `panic.lines=N`;
 * `nmi=` report, debugger, panic.
 */
#ifndef KERNEL_PANIC_H
#define KERNEL_PANIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_regs;

/* Reads the boot options and logs errors in them. Until then the defaults hold. */
void panic_boot_options(void);
uint32_t panic_lines(void); /* maximum number of lines of a report */

/* Returns whether some CPU has panicked. From then on the console belongs to that CPU: it takes no lock,
 * and output of other CPUs is dropped. */
bool panic_is_on(void);
bool panic_is_here(void); /* on this CPU */

/* Writes text to the raw console, even if another CPU is writing; "\n" becomes "\r\n" (log.c). */
void panic_console_put(const char *text, size_t size);

void panic_interrupt(void); /* an NMI arrived during a panic */

/* For tests: makes every step of the next panic begin with a fault. */
void panic_test_faults(void);

#endif
