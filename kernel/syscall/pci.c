/*
 * pci.c - does what firmware does for PCI devices, on machines that start without one. Interface: machine.h.
 *
 * pci_init() goes over all BARs three times: to find which parts of the windows are in use, to assign
 * addresses to BARs at 0, and to record where the registers of each device are: that is all of physical
 * memory that its driver may map. Drivers enable their devices.
 */
#include <arch/machine.h>
#include <kernel/kernel.h>
#include <kernel/syscall/machine.h>

#define PCI_COMMAND         0x04
#define COMMAND_MEMORY      0x02u
#define PCI_HEADER_TYPE     0x0e
#define HEADER_TYPE         0x7fu
#define HEADER_MULTIPLE     0x80u /* several functions */
#define HEADER_BRIDGE       1u
#define PCI_BAR0            0x10
#define BARS                6u
#define BARS_OF_BRIDGE      2u
#define BAR_IO              1u
#define BAR_WIDE            4u /* bit of the type field */
#define BAR_TYPE            6u
#define BAR_FLAGS           15u
#define PCI_SUBORDINATE_BUS 0x1a /* of a bridge: the highest bus behind it */

struct bar {
    uint32_t device, at; /* offset in configuration space */
    uint32_t flags;
    bool wide;        /* 64 bits: uses the next BAR's register, too */
    uint64_t address; /* bus address; 0: none */
};

static uint32_t read_config(uint32_t device, uint32_t offset, uint32_t width)
{
    uint32_t value = ~0u;
    arch_pci_read(device, offset, width, &value);
    return value;
}

static void write_config(uint32_t device, uint32_t offset, uint32_t width, uint32_t value)
{
    arch_pci_write(device, offset, width, value);
}

/* ---- One BAR ---- */

static struct bar read_bar(uint32_t device, uint32_t index)
{
    uint32_t at = PCI_BAR0 + 4 * index, low = read_config(device, at, 4);
    struct bar bar = {.device = device, .at = at, .flags = low & BAR_FLAGS};
    bar.wide = !(low & BAR_IO) && (low & BAR_TYPE) == BAR_WIDE && index + 1 < BARS;
    bar.address = low & ~BAR_FLAGS;
    if (bar.wide)
        bar.address |= (uint64_t)read_config(device, at + 4, 4) << 32;
    return bar;
}

static void write_bar(const struct bar *bar, uint64_t address)
{
    write_config(bar->device, bar->at, 4, (uint32_t)address | bar->flags);
    if (bar->wide)
        write_config(bar->device, bar->at + 4, 4, (uint32_t)(address >> 32));
}

/* Returns the BAR's size; 0: not present. After all ones are written, the address bits read as ones. */
static uint64_t size_bar(const struct bar *bar)
{
    uint32_t index = (bar->at - PCI_BAR0) / 4, command = read_config(bar->device, PCI_COMMAND, 2);
    write_config(bar->device, PCI_COMMAND, 2, command & ~COMMAND_MEMORY);
    write_bar(bar, ~0ull);
    uint64_t mask = read_bar(bar->device, index).address;
    write_bar(bar, bar->address);
    write_config(bar->device, PCI_COMMAND, 2, command);
    return mask & -mask;
}

/* ---- All BARs ---- */

static void visit_bars(uint32_t device, void (*visit)(const struct bar *bar))
{
    uint32_t type = read_config(device, PCI_HEADER_TYPE, 1) & HEADER_TYPE;
    uint32_t count = type == 0 ? BARS : type == HEADER_BRIDGE ? BARS_OF_BRIDGE : 0;
    for (uint32_t index = 0; index < count; index++) {
        struct bar bar = read_bar(device, index);
        if (!(bar.flags & BAR_IO))
            visit(&bar);
        index += bar.wide;
    }
}

/* Firmware numbers the buses behind bridges; without firmware there are none. */
static void visit_all(void (*visit)(const struct bar *bar))
{
    uint32_t last_bus = 0;
    for (uint32_t device = 0; device >> 8 <= last_bus; device++) {
        if (read_config(device, 0, 2) == 0xffff) {
            device |= device & 7 ? 0 : 7; /* no function 0: no device */
            continue;
        }
        uint32_t type = read_config(device, PCI_HEADER_TYPE, 1);
        uint32_t bus =
            (type & HEADER_TYPE) == HEADER_BRIDGE ? read_config(device, PCI_SUBORDINATE_BUS, 1) : 0;
        last_bus = bus > last_bus ? bus : last_bus;
        visit_bars(device, visit);
        device |= type & HEADER_MULTIPLE || device & 7 ? 0 : 7;
    }
}

/* ---- Addresses ---- */

static struct {
    struct pci_window window;
    uint64_t next; /* bus address: free from here on */
} windows[2];      /* for BARs of 32 and of 64 bits */

static void note_taken(const struct bar *bar)
{
    for (unsigned i = 0; i < 2 && bar->address; i++) {
        const struct pci_window *window = &windows[i].window;
        if (bar->address < window->bus || bar->address - window->bus >= window->size)
            continue;
        uint64_t end = bar->address + size_bar(bar);
        windows[i].next = end > windows[i].next ? end : windows[i].next;
    }
}

static void place(const struct bar *bar)
{
    uint64_t size = bar->address ? 0 : size_bar(bar);
    if (size == 0)
        return;
    unsigned i = bar->wide && windows[1].window.size ? 1 : 0;
    const struct pci_window *window = &windows[i].window;
    uint64_t address = (windows[i].next + size - 1) & ~(size - 1);
    if (address - window->bus > window->size || window->size - (address - window->bus) < size) {
        log_line("pci: no address space for the registers of device %#x", bar->device);
        return;
    }
    windows[i].next = address + size;
    write_bar(bar, address);
}

#define KNOWN_MAX 64u

static struct known_bar {
    uint32_t device, index;
    uint64_t physical, size;
} known[KNOWN_MAX]; /* constant after boot */
static uint32_t known_count;

static void record(const struct bar *bar)
{
    const uint64_t physical = bar->address ? arch_pci_address(bar->address) : 0;
    if (physical && known_count == KNOWN_MAX)
        log_line("pci: too many devices: %#x cannot be used", bar->device);
    else if (physical)
        known[known_count++] =
            (struct known_bar){bar->device, (bar->at - PCI_BAR0) / 4, physical, size_bar(bar)};
}

void pci_init(void)
{
    for (unsigned i = 0; i < 2; i++) {
        if (!arch_pci_window(i == 1, &windows[i].window))
            windows[i].window = (struct pci_window){0};
        windows[i].next = windows[i].window.bus;
    }
    visit_all(note_taken);
    visit_all(place);
    visit_all(record);
}

int32_t pci_find(uint32_t id)
{
    for (uint32_t i = 0; i < known_count; i++)
        if (read_config(known[i].device, 0, 4) == id)
            return (int32_t)known[i].device;
    return -1;
}

bool pci_bar(uint32_t device, uint32_t bar, uint64_t *physical, uint64_t *size)
{
    for (uint32_t i = 0; i < known_count; i++) {
        if (known[i].device != device || known[i].index != bar)
            continue;
        *physical = known[i].physical;
        *size = known[i].size;
        return true;
    }
    return false;
}
