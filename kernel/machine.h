/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/machine.h - the machine object: authority over devices, the raw console and power. There is one.
 */
#ifndef KERNEL_MACHINE_H
#define KERNEL_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tarn/abi.h>

/* What CAP_MACHINE and CAP_TRACE capabilities point to. Nothing is in them. */
extern char machine_object[1], trace_object[1];

struct cpu;

#define PCI_DEVICE_LAST 0xffffu /* bus << 8 | slot << 3 | function */

int machine_check(cap_t machine, uint32_t rights); /* does the current space hold it? */

/* Stops the other processors, for good and in the middle of anything. self: the caller's; NULL: it is too
 * early to know. */
void machine_stop_others(const struct cpu *self);

/* Text to the raw console, one writer at a time (log.c). */
void console_write(const char *text, size_t size);
bool console_is_busy(void);                              /* another processor writes */
void console_test_panic(void) __attribute__((noreturn)); /* in the middle of that */
/* The console's interrupt; false if nobody wants it or it is another. */
bool console_interrupt(uint32_t number);
void console_init(void); /* what is typed is taken from now on */
/* The same as the interrupt does, from elsewhere, unless somebody is at it: whose processor takes no
 * interrupts has others that look. */
void console_poll(void);

#endif
