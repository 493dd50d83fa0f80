/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/report.h - what is told of a processor that failed, in parts: why, what ran there, registers, call
 * chains, the other processors, the last events. For a panic (panic.c), an NMI from outside (nmi.c), and one
 * that hangs (watchdog.c).
 *
 * A report has so many lines. Each part may use a share of those that are left, and says how many it would
 * have needed. No locks, no memory; one report at a time.
 */
#ifndef KERNEL_REPORT_H
#define KERNEL_REPORT_H

#include <stdbool.h>
#include <stdint.h>

struct cpu;
struct kernel_regs;

/* For all but a panic, which asks nobody. False: it is not to be had for seconds, or this processor has it,
 * and was interrupted. */
bool report_take_turn(void);
void report_end_turn(void);

/* regs: of what failed there. cpu NULL: it is not known yet where this runs, and there is little to tell. */
void report_begin(struct cpu *cpu, const struct kernel_regs *regs, uint32_t lines);
/* A line that is printed whatever is left; "\n" is added. */
void report_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same behind an empty line: somebody may have begun one. */
void report_title(const char *format, ...) __attribute__((format(printf, 1, 2)));

enum report_part {
    REPORT_CURRENT, /* thread and process */
    REPORT_REGISTERS,
    REPORT_KERNEL_CALLS,
    REPORT_USER_CALLS, /* of the program that was in the kernel, or interrupted */
    REPORT_OTHERS,     /* where the other processors were stopped */
    REPORT_OWN_EVENTS,
    REPORT_ALL_EVENTS,
    REPORT_PARTS
};
const char *report_name(enum report_part part);
/* May run into a fault when the kernel's data are damaged; the next one can be printed all the same. */
void report_print(enum report_part part);

/* A processor panicked while another did that already: told with REPORT_OTHERS. text: copied. */
void report_join(uint32_t cpu, const char *text);

#endif
