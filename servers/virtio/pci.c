/* pci.c - a PCI device by system calls: BARs, capabilities, MSI-X (pci.h). */
#include <servers/virtio/pci.h>
#include <servers/virtio/registers.h>
#include <stddef.h>
#include <tarn/syscall.h>

#define PCI_COMMAND         0x04
#define PCI_COMMAND_MEMORY  0x02u
#define PCI_COMMAND_MASTER  0x04u
#define PCI_COMMAND_NO_INTX 0x400u
#define PCI_CAPABILITIES    0x34

#define MSIX_CONTROL        2
#define MSIX_CONTROL_ENABLE 0x8000u
#define MSIX_TABLE          4
#define MSIX_ENTRY_BYTES    16u

uint32_t pci_read(cap_t device, uint32_t offset, uint32_t width)
{
    int64_t value = sys_device_read(device, offset, width);
    return value < 0 ? ~0u : (uint32_t)value;
}

void pci_enable(cap_t device)
{
    uint32_t command = pci_read(device, PCI_COMMAND, 2);
    sys_device_write(device, PCI_COMMAND, 2,
                     command | PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_NO_INTX);
}

uint32_t pci_capability(cap_t device, uint8_t id, uint32_t after)
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

volatile void *pci_map(cap_t device, unsigned bar, uint64_t offset, uint64_t size)
{
    uint64_t start = offset & ~(TARN_PAGE_SIZE - 1), skip = offset - start;
    size = (skip + size + TARN_PAGE_SIZE - 1) & ~(TARN_PAGE_SIZE - 1);
    int64_t memory = sys_device_memory(device, bar);
    if (memory < 0)
        return NULL;
    int64_t mapped =
        sys_space_map(SLOT_SPACE, (cap_t)memory, 0, size, start, MAP_READ | MAP_WRITE | MAP_UNCACHED);
    sys_cap_close((cap_t)memory);
    if (mapped < 0)
        return NULL;
    return (volatile void *)(uintptr_t)((uint64_t)mapped + skip);
}

static int write_entry(cap_t device, uint32_t capability, const struct irq_message *message)
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

int64_t pci_enable_msix(cap_t device, cap_t notification, uint64_t bits)
{
    uint32_t capability = pci_capability(device, PCI_CAP_MSIX, 0);
    struct irq_message message;
    if (capability == 0)
        return -1;
    int64_t irq = sys_irq_create_message(device, &message);
    if (irq < 0)
        return irq;
    int64_t bound = sys_irq_bind((cap_t)irq, notification, bits);
    if (bound < 0)
        return bound;
    if (message.address && write_entry(device, capability, &message))
        return -1;
    uint32_t control = pci_read(device, capability + MSIX_CONTROL, 2);
    sys_device_write(device, capability + MSIX_CONTROL, 2, control | MSIX_CONTROL_ENABLE);
    return irq;
}
