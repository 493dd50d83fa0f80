/*
 * pci.h - maps the BARs of a PCI device and enables its message-signalled interrupt. The device is a
 * capability (SLOT_DEVICE of a server), with which a driver reaches nothing else.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <tarn/abi.h>

#define PCI_CAP_VENDOR 0x09
#define PCI_CAP_MSIX   0x11

uint32_t pci_read(cap_t device, uint32_t offset, uint32_t width);
void pci_enable(cap_t device); /* memory decoding and bus mastering on, INTx off */
/* Returns the offset of the first capability `id` after `after` (0: from the start), or 0. */
uint32_t pci_capability(cap_t device, uint8_t id, uint32_t after);
/* Maps a part of a memory BAR. Returns NULL on failure. */
volatile void *pci_map(cap_t device, unsigned bar, uint64_t offset, uint64_t size);
/* Makes vector 0 of the device's MSI-X table signal the notification. Returns the interrupt's slot, or a
 * negative error. */
int64_t pci_enable_msix(cap_t device, cap_t notification, uint64_t bits);
