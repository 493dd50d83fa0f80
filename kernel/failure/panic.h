/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * panic.h - panics, as the rest of the kernel sees them. To panic: kernel.h.
 *
 * Boot options (boot/README.md): `panic=` end, debugger, reboot, halt, dump; `panic.lines=N`; `nmi=`
 * report, debugger, panic.
 */
#ifndef KERNEL_PANIC_H
#define KERNEL_PANIC_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_regs;

/* Logs errors in the options. Until then the defaults hold. */
void panic_boot_options(void);
uint32_t panic_lines(void); /* maximum number of lines of a report */

/* Has a CPU panicked? Then that CPU owns the console: it takes no lock, and output of others is dropped. */
bool panic_is_on(void);
bool panic_is_here(void); /* on this CPU */

void panic_interrupt(void); /* an NMI arrived during a panic */

/* For tests: every step of the next panic begins with a fault. */
void panic_test_faults(void);

#endif
