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

/* pci.c: addresses for the registers of PCI devices. device = bus << 8 | slot << 3 | function, as in
 * <arch/machine.h>. */

/* Assigns addresses in the port's windows to memory BARs that the firmware left at 0, and records all. Only
 * while one CPU runs: sizing a BAR moves its registers for a moment. */
void pci_init(void);

/* The first device with this id (device number << 16 | vendor) that has memory BARs, or -1. */
int32_t pci_find(uint32_t id);

/* The registers behind a memory BAR (0 to 5), as they were at boot, whatever the driver has written since.
 * False: none. */
bool pci_bar(uint32_t device, uint32_t bar, uint64_t *physical, uint64_t *size);
