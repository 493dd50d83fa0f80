/*
 * pci.h - addresses for the registers of PCI devices.
 *
 * device = bus << 8 | slot << 3 | function, as in <arch/machine.h>.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Assigns addresses in the port's windows to memory BARs that the firmware left at 0, and records all. Only
 * while one CPU runs: sizing a BAR moves its registers for a moment. */
void pci_init(void);

/* The first device with this id (device number << 16 | vendor) that has memory BARs, or -1. */
int32_t pci_find(uint32_t id);

/* The registers behind a memory BAR (0 to 5), as they were at boot, whatever the driver has written since.
 * False: none. */
bool pci_bar(uint32_t device, uint32_t bar, uint64_t *physical, uint64_t *size);
