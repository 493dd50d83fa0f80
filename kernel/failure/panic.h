/*
 * panic.h - panics, as the rest of the kernel sees them. To panic: kernel.h.
 *
 * After the report (report.h), `panic=` decides:
 *
 *   end (default)  the machine ends, see boot/README.md
 *   debugger       the debugger, with the other CPUs as they were; `continue` halts
 *   reboot         the machine boots again, and keeps the panic's trace (`trace previous`)
 *   halt           all CPUs stop until the machine is reset or dumped from outside
 *   dump           the host is notified and can dump the memory (`tarn pull core:FILE`); then halt. QEMU
 *                  needs `-action panic=pause`, x86_64 also `-device pvpanic`
 *
 * An NMI from outside (QMP inject-nmi; a system reset on ppc64) is for a machine that seems to hang. `nmi=`:
 * report (default; each CPU prints where it is, and all continue), debugger, panic. During a panic's report
 * it ends the current step. On ppc64 a program that just enters the kernel is lost (ppc64/trap.c).
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_regs;

/* Logs errors in the options. Until then the defaults hold. */
void panic_boot_options(void);

/* Has a CPU panicked? Then that CPU owns the console: it takes no lock, and output of others is dropped. */
bool panic_is_on(void);
bool panic_is_here(void); /* on this CPU */

void panic_interrupt(void); /* an NMI arrived during a panic */

/* For tests: every step of the next panic begins with a fault. */
void panic_test_faults(void);
