/*
 * panic.h - panics, as the rest of the kernel sees them. To panic: kernel.h.
 *
 * After the report, `panic=` decides:
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

/* For tests: every step of the next panic begins with a fault. */
void panic_test_faults(void);

/* ---- report.c: the report about a CPU that failed, in parts: reason, what ran there, registers, call
 * chains, the other CPUs, the last events. For panics and NMIs from outside (panic.c), and hangs
 * (watchdog.c). No locks, no allocation; one report at a time. ---- */

struct cpu;

/* Reserves the report; panics do not ask. False: not available for seconds, or this CPU was interrupted
 * while it had it. */
bool report_take_turn(void);
void report_end_turn(void);

/* `regs`: where it failed. `cpu` NULL: too early to know; the report is short. */
void report_begin(struct cpu *cpu, const struct kernel_regs *regs);
/* Prints a line, with or without "\n" at its end. */
void report_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Like report_say, after an empty line, because a line may be unfinished. */
void report_title(const char *format, ...) __attribute__((format(printf, 1, 2)));

enum {
    REPORT_CURRENT, /* thread and process */
    REPORT_REGISTERS,
    REPORT_KERNEL_CALLS,
    REPORT_USER_CALLS, /* of the program that called the kernel or was interrupted */
    REPORT_OTHERS,     /* where the other CPUs were stopped */
    REPORT_OWN_EVENTS,
    REPORT_ALL_EVENTS,
    REPORT_PARTS
};
/* print() may fault if the kernel's data are damaged; the next part can still be printed. */
extern const struct report_part {
    const char *name;
    void (*print)(void);
} report_parts[REPORT_PARTS];

/* A second CPU panicked during a panic; printed with REPORT_OTHERS. Copies `text`. */
void report_join(uint32_t cpu, const char *text);
