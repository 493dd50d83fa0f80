/*
 * arch/x86_64/machine.c - serial console (COM1), PCI configuration, power.
 *
 * The console is raw and takes no lock: callers serialize. PCI configuration has one address register for all
 * CPUs: pci_lock, innermost.
 */
#include "port.h"
#include "x86.h"
#include <arch/cpu.h>
#include <arch/machine.h>
#include <kernel/cpu/lock.h>
#include <tarn/error.h>

/* ---- console -------------------------------------------------------------------------------------- */

#define COM1             0x3f8
#define COM1_IRQ         4
#define UART_DATA        (COM1 + 0)
#define UART_INTERRUPTS  (COM1 + 1)
#define UART_FIFO        (COM1 + 2)
#define UART_LINE        (COM1 + 3)
#define UART_MODEM       (COM1 + 4)
#define UART_STATUS      (COM1 + 5)
#define STATUS_RECEIVED  0x01
#define STATUS_CAN_SEND  0x20
#define STATUS_NO_DEVICE 0xff

static void open_console(void)
{
    static bool is_open; /* set before any other CPU runs */
    if (is_open)
        return;
    is_open = true;
    outb(UART_INTERRUPTS, 0);
    outb(UART_LINE, 0x80); /* divisor: 115200 bits a second */
    outb(UART_DATA, 1);
    outb(UART_INTERRUPTS, 0);
    outb(UART_LINE, 0x03);  /* 8 bits, no parity, one stop bit */
    outb(UART_FIFO, 0x07);  /* on, cleared, an interrupt for every byte */
    outb(UART_MODEM, 0x0b); /* ready; OUT2 enables interrupts */
}

void arch_console_put(char c)
{
    open_console();
    uint8_t status;
    while (!((status = inb(UART_STATUS)) & STATUS_CAN_SEND))
        arch_relax();
    if (status != STATUS_NO_DEVICE)
        outb(UART_DATA, (uint8_t)c);
}

int arch_console_get(void)
{
    open_console();
    uint8_t status = inb(UART_STATUS);
    return status != STATUS_NO_DEVICE && status & STATUS_RECEIVED ? inb(UART_DATA) : -1;
}

uint32_t arch_console_irq(void)
{
    return COM1_IRQ;
}

void arch_console_irq_enable(void)
{
    open_console();
    outb(UART_INTERRUPTS, 0x01);
}

/* ---- PCI configuration ---------------------------------------------------------------------------- */

LOCK_CLASS(pci_lock_class, "pci");
static struct spinlock pci_lock = SPINLOCK(&pci_lock_class);

#define PCI_ADDRESS 0xcf8
#define PCI_DATA    0xcfc

#define PCI_BYTES 256 /* the rest of configuration space is not reachable by ports */

static void pci_select(uint32_t device, uint32_t offset)
{
    outl(PCI_ADDRESS, 1u << 31 | device << 8 | (offset & 0xfc));
}

int arch_pci_read(uint32_t device, uint32_t offset, uint32_t width, uint32_t *value)
{
    if (offset >= PCI_BYTES)
        return -E_BAD_ARGUMENT;
    uint16_t port = (uint16_t)(PCI_DATA + (offset & 3));
    spin_lock(&pci_lock);
    pci_select(device, offset);
    *value = width == 1 ? inb(port) : width == 2 ? inw(port) : inl(port);
    spin_unlock(&pci_lock);
    return 0;
}

int arch_pci_write(uint32_t device, uint32_t offset, uint32_t width, uint32_t value)
{
    if (offset >= PCI_BYTES)
        return -E_BAD_ARGUMENT;
    uint16_t port = (uint16_t)(PCI_DATA + (offset & 3));
    spin_lock(&pci_lock);
    pci_select(device, offset);
    if (width == 1)
        outb(port, (uint8_t)value);
    else if (width == 2)
        outw(port, (uint16_t)value);
    else
        outl(port, value);
    spin_unlock(&pci_lock);
    return 0;
}

/* Below the firmware's own window under 4 GiB, far from RAM. The firmware has configured all devices present;
 * this is for devices that are plugged in later or were left out. */
bool arch_pci_window(bool wide, struct pci_window *window)
{
    *window = (struct pci_window){0xf8000000, 0xf8000000, 0x04000000};
    return !wide;
}

uint64_t arch_pci_address(uint64_t bus)
{
    return bus;
}

/* ---- power ---------------------------------------------------------------------------------------- */

/* QEMU's isa-debug-exit: exit status 2 * value + 1. Value 0 is not used, because QEMU's own errors have
 * status 1. */
#define DEBUG_EXIT     0xf4
#define DEBUG_EXIT_MAX 126u
#define RESET_CONTROL  0xcf9
#define SLEEP_ENABLE   (1u << 13)

void arch_shutdown(uint32_t status)
{
    outl(DEBUG_EXIT, 1 + (status < DEBUG_EXIT_MAX ? status : DEBUG_EXIT_MAX));
    if (platform.pm1a_control)
        outw(platform.pm1a_control, (uint16_t)(SLEEP_ENABLE | (uint32_t)platform.sleep_type << 10));
    arch_reboot();
}

void arch_reboot(void)
{
    outb(RESET_CONTROL, 2);
    outb(RESET_CONTROL, 6);
    outb(0x64, 0xfe); /* reset by the keyboard controller */
    arch_stop_forever();
}

#define PVPANIC_PANICKED 1u

/* A read returns the events that the device can report; without a device all bits are set. */
bool arch_stop_for_dump(const char *reason)
{
    uint16_t port = platform.pvpanic;
    uint8_t events = port ? inb(port) : 0;
    if (events == 0xff || !(events & PVPANIC_PANICKED))
        return false;
    outb(port, PVPANIC_PANICKED);
    return true;
}
