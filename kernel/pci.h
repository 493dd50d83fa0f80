/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/pci.h - places in memory for the registers of PCI devices.
 *
 * device = bus << 8 | slot << 3 | function, as in <arch/machine.h>.
 */
#ifndef KERNEL_PCI_H
#define KERNEL_PCI_H

#include <stdint.h>

/* Gives every memory BAR that the firmware left at 0 a place in the port's windows. While one processor runs:
 * sizing a BAR moves registers for a moment. */
void pci_init(void);

/* Where the processor finds the registers behind a memory BAR (0..5); 0: nowhere. */
uint64_t pci_bar_address(uint32_t device, uint32_t bar);

#endif
