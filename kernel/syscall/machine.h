/*
 * machine.h - the machine object: authority over the raw console, devices and power. There is one. Its
 * holder can make capabilities for single devices.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tarn/abi.h>

/* The objects of CAP_MACHINE (and CAP_DEVICE) and CAP_TRACE capabilities. They have no contents. */
extern char machine_object[1], trace_object[1];

/* 0 if the current space's slot has any device or the machine, with RIGHT_MANAGE; else -E_*. */
int driver_check(cap_t slot);

void console_init(void); /* from now on input is read */
/* Does the same as the interrupt, unless a CPU is doing it. So input is read even if the CPU that gets the
 * interrupt hangs. */
void console_poll(void);
