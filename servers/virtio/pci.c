/* SPDX-License-Identifier: BSD-2-Clause */
/* pci.c - PCI configuration space by system calls: devices, BARs, capabilities, MSI-X (pci.h). */
#include <servers/virtio/pci.h>
#include <servers/virtio/registers.h>
#include <stddef.h>
#include <tarn/syscall.h>

#define PCI_COMMAND         0x04
#define PCI_COMMAND_MEMORY  0x02u
#define PCI_COMMAND_MASTER  0x04u
#define PCI_COMMAND_NO_INTX 0x400u
#define PCI_HEADER_TYPE     0x0e
#define PCI_CAPABILITIES    0x34
#define PCI_BUSES           4u /* QEMU's machines have their devices on the first one */

#define MSIX_CONTROL        2
#define MSIX_CONTROL_ENABLE 0x8000u
#define MSIX_TABLE          4
#define MSIX_ENTRY_BYTES    16u

uint32_t pci_read(uint32_t device, uint32_t offset, uint32_t width)
{
    int64_t value = sys_machine_pci_read(SLOT_MACHINE, device, offset, width);
    return value < 0 ? ~0u : (uint32_t)value;
}

void pci_write(uint32_t device, uint32_t offset, uint32_t width, uint32_t value)
{
    sys_machine_pci_write(SLOT_MACHINE, device, offset, width, value);
}

int32_t pci_find(uint16_t vendor, uint16_t id)
{
    for (uint32_t slot = 0; slot < PCI_BUSES * 32; slot++) {
        uint32_t device = slot << 3, functions;
        if (pci_read(device, 0, 2) == 0xffff)
            continue;
        functions = pci_read(device, PCI_HEADER_TYPE, 1) & 0x80 ? 8 : 1;
        for (uint32_t function = 0; function < functions; function++)
            if (pci_read(device | function, 0, 4) == ((uint32_t)id << 16 | vendor))
                return (int32_t)(device | function);
    }
    return -1;
}

void pci_enable(uint32_t device)
{
    uint32_t command = pci_read(device, PCI_COMMAND, 2);
    pci_write(device, PCI_COMMAND, 2,
              command | PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_NO_INTX);
}

uint32_t pci_capability(uint32_t device, uint8_t id, uint32_t after)
{
    uint32_t at = pci_read(device, after ? after + 1 : PCI_CAPABILITIES, 1) & 0xfc;

    /* Stops at a loop in the list: at most 48 capabilities fit the space. */
    for (int left = 48; at != 0 && left > 0; left--) {
        if (pci_read(device, at, 1) == id)
            return at;
        at = pci_read(device, at + 1, 1) & 0xfc;
    }
    return 0;
}

volatile void *pci_map(uint32_t device, unsigned bar, uint64_t offset, uint64_t size)
{
    int64_t address = sys_machine_pci_bar(SLOT_MACHINE, device, bar);

    if (address < 0)
        return NULL;
    uint64_t first = (uint64_t)address + offset, start = first & ~(TARN_PAGE_SIZE - 1), skip = first - start;
    size = (skip + size + TARN_PAGE_SIZE - 1) & ~(TARN_PAGE_SIZE - 1);
    int64_t memory = sys_memory_create_physical(SLOT_MACHINE, start, size);
    if (memory < 0)
        return NULL;
    int64_t mapped =
        sys_space_map(SLOT_SPACE, (cap_t)memory, 0, size, 0, MAP_READ | MAP_WRITE | MAP_UNCACHED);
    sys_cap_close((cap_t)memory);
    if (mapped < 0)
        return NULL;
    return (volatile void *)(uintptr_t)((uint64_t)mapped + skip);
}

static int write_entry(uint32_t device, uint32_t capability, const struct irq_message *message)
{
    uint32_t place = pci_read(device, capability + MSIX_TABLE, 4);
    volatile uint32_t *entry = pci_map(device, place & 7, place & ~7u, MSIX_ENTRY_BYTES);

    if (!entry)
        return -1;
    const uint32_t words[4] = {(uint32_t)message->address, (uint32_t)(message->address >> 32), message->data,
                               0};
    for (int i = 0; i < 4; i++)
        register_write32(&entry[i], words[i]);
    return 0;
}

int64_t pci_enable_msix(uint32_t device, cap_t notification, uint64_t bits)
{
    uint32_t capability = pci_capability(device, PCI_CAP_MSIX, 0);
    struct irq_message message;

    if (capability == 0)
        return -1;
    int64_t irq = sys_irq_create_message(SLOT_MACHINE, device, &message);
    if (irq < 0)
        return irq;
    int64_t bound = sys_irq_bind((cap_t)irq, notification, bits);
    if (bound < 0)
        return bound;
    if (message.address && write_entry(device, capability, &message))
        return -1;
    uint32_t control = pci_read(device, capability + MSIX_CONTROL, 2);
    pci_write(device, capability + MSIX_CONTROL, 2, control | MSIX_CONTROL_ENABLE);
    return irq;
}
