/*
 * report.h - the report about a CPU that failed, in parts: reason, what ran there, registers, call chains,
 * the other CPUs, the last events. For panics (panic.c), NMIs from outside (nmi.c) and hangs (watchdog.c).
 *
 * No locks, no allocation; one report at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cpu;
struct kernel_regs;

/* Reserves the report; panics do not ask. False: not available for seconds, or this CPU was interrupted
 * while it had it. */
bool report_take_turn(void);
void report_end_turn(void);

/* `regs`: where it failed. `cpu` NULL: too early to know; the report is short. */
void report_begin(struct cpu *cpu, const struct kernel_regs *regs);
/* Prints a line. Adds "\n". */
void report_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Like report_say, after an empty line, because a line may be unfinished. */
void report_title(const char *format, ...) __attribute__((format(printf, 1, 2)));

enum report_part {
    REPORT_CURRENT, /* thread and process */
    REPORT_REGISTERS,
    REPORT_KERNEL_CALLS,
    REPORT_USER_CALLS, /* of the program that called the kernel or was interrupted */
    REPORT_OTHERS,     /* where the other CPUs were stopped */
    REPORT_OWN_EVENTS,
    REPORT_ALL_EVENTS,
    REPORT_PARTS
};
const char *report_name(enum report_part part);
/* May fault if the kernel's data are damaged; the next part can still be printed. */
void report_print(enum report_part part);

/* A second CPU panicked during a panic; printed with REPORT_OTHERS. Copies `text`. */
void report_join(uint32_t cpu, const char *text);
