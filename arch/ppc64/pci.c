/*
 * arch/ppc64/pci.c - the PCI host bridge through RTAS: configuration space, message-signalled interrupts,
 * windows.
 *
 * A device is bus << 8 | slot << 3 | function, as in arch/machine.h. rtas.c serializes the firmware calls;
 * this file has no state.
 */
#include "port.h"
#include <arch/machine.h>
#include <stddef.h>
#include <tarn/error.h>

#define BUID_HIGH ((uint32_t)(platform.pci_buid >> 32))
#define BUID_LOW  ((uint32_t)platform.pci_buid)

/* ---- configuration space -------------------------------------------------------------------------- */

/* LoPAPR 7.3.4: the high four bits of the register's number come last. */
static uint32_t config_address(uint32_t device, uint32_t offset)
{
    return (offset & 0xf00) << 20 | device << 8 | (offset & 0xff);
}

int arch_pci_read(uint32_t device, uint32_t offset, uint32_t width, uint32_t *value)
{
    const uint32_t arguments[] = {config_address(device, offset), BUID_HIGH, BUID_LOW, width};
    if (rtas_call(RTAS_READ_PCI_CONFIG, arguments, 4, value, 1))
        *value = ~0u >> (32 - 8 * width);
    return 0;
}

int arch_pci_write(uint32_t device, uint32_t offset, uint32_t width, uint32_t value)
{
    const uint32_t arguments[] = {config_address(device, offset), BUID_HIGH, BUID_LOW, width, value};
    rtas_call(RTAS_WRITE_PCI_CONFIG, arguments, 5, NULL, 0);
    return 0;
}

/* ---- windows -------------------------------------------------------------------------------------- */

bool arch_pci_window(bool wide, struct pci_window *window)
{
    *window = wide ? platform.pci_memory64 : platform.pci_memory32;
    return window->size != 0;
}

static uint64_t through_window(const struct pci_window *window, uint64_t bus)
{
    return bus >= window->bus && bus - window->bus < window->size ? bus - window->bus + window->physical : 0;
}

uint64_t arch_pci_address(uint64_t bus)
{
    uint64_t address = through_window(&platform.pci_memory32, bus);
    return address ? address : through_window(&platform.pci_memory64, bus);
}

/* ---- messages ------------------------------------------------------------------------------------- */

#define CHANGE_MSIX 4u

static bool change_messages(uint32_t device, uint32_t count)
{
    enum { COUNT, SEQUENCE, RESULTS };
    uint32_t results[RESULTS], sequence = 1;
    const uint32_t arguments[] = {
        config_address(device, 0), BUID_HIGH, BUID_LOW, CHANGE_MSIX, count, sequence};
    return rtas_call(RTAS_CHANGE_MSI, arguments, 6, results, RESULTS) == 0 && results[COUNT] == count;
}

uint32_t pci_allocate_message(uint32_t device)
{
    enum { SOURCE, TRIGGER, RESULTS };
    uint32_t results[RESULTS], entry = 0;
    const uint32_t arguments[] = {config_address(device, 0), BUID_HIGH, BUID_LOW, entry};
    if (!change_messages(device, 1))
        return 0;
    if (rtas_call(RTAS_QUERY_INTERRUPT_SOURCE, arguments, 4, results, RESULTS)) {
        pci_free_message(device);
        return 0;
    }
    return results[SOURCE];
}

void pci_free_message(uint32_t device)
{
    change_messages(device, 0);
}
