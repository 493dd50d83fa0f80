/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pci.h - addresses for the registers of PCI devices.
 *
 * device = bus << 8 | slot << 3 | function, as in <arch/machine.h>.
 */
#ifndef KERNEL_PCI_H
#define KERNEL_PCI_H

#include <stdint.h>

/* Assigns addresses in the port's windows to memory BARs that the firmware left at 0. Only while one CPU
 * runs: sizing a BAR moves its registers for a moment. */
void pci_init(void);

/* Physical address of the registers behind a memory BAR (0 to 5); 0: none. */
uint64_t pci_bar_address(uint32_t device, uint32_t bar);

#endif
