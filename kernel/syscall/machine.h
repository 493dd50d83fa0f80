/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * machine.h - the machine object: authority over the raw console, devices and power. There is one. Its
 * holder can make capabilities for single devices.
 */
#ifndef KERNEL_MACHINE_H
#define KERNEL_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tarn/abi.h>

/* The objects of CAP_MACHINE (and CAP_DEVICE) and CAP_TRACE capabilities. They have no contents. */
extern char machine_object[1], trace_object[1];

struct cpu;

/* 0 if the current space's slot has any device or the machine, with RIGHT_MANAGE; else -E_*. */
int driver_check(cap_t slot);

/* Stops the other CPUs for good, whatever they do. `self`: the caller's; NULL: too early to know. */
void machine_stop_others(const struct cpu *self);

/* One CPU at a time (log.c). */
void console_write(const char *text, size_t size);
bool console_is_busy(void);                              /* another CPU is writing */
void console_test_panic(void) __attribute__((noreturn)); /* panics inside console_write */
/* The console's interrupt; false if it is another one. */
bool console_interrupt(uint32_t number);
void console_init(void); /* from now on input is read */
/* Does the same as the interrupt, unless a CPU is doing it. So input is read even if the CPU that gets the
 * interrupt hangs. */
void console_poll(void);

#endif
