/*
 * arch/machine.h - the board: console, interrupts, PCI configuration, power.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <tarn/abi.h>

/* Raw console. Works from the first C statement on, without interrupts and without locks: callers serialize.
 */
void arch_console_put(char c);
int arch_console_get(void);         /* a byte, or -1 */
uint32_t arch_console_irq(void);    /* interrupt number for input; enabled by arch_irq_unmask */
void arch_console_irq_enable(void); /* lets the device interrupt */

/* Interrupt lines and messages share one number space, 0..ARCH_IRQ_COUNT-1 (<port/machine.h>). */
void arch_irq_init(void);          /* everything masked */
int arch_irq_unmask(uint32_t irq); /* -E_BAD_ARGUMENT: no such line */
void arch_irq_mask(uint32_t irq);
void arch_irq_end(uint32_t irq); /* acknowledges it to the controller */
/* Allocates a message for the first entry of the device's MSI-X table: returns an irq number, or
 * -E_UNSUPPORTED, -E_NO_SLOT, -E_BUSY (the firmware gives a device no second one). message: for the driver to
 * write into the entry; address 0: the firmware did. */
int arch_irq_allocate_message(uint32_t device, struct irq_message *message);
void arch_irq_free_message(uint32_t irq);

/* device = bus << 8 | slot << 3 | function. Absent devices read as ones. */
int arch_pci_read(uint32_t device, uint32_t offset, uint32_t width, uint32_t *value);
int arch_pci_write(uint32_t device, uint32_t offset, uint32_t width, uint32_t value);
/* Bus addresses for devices (kernel/syscall/pci.c). wide: for 64-bit BARs. False: there is no such window. */
struct pci_window {
    uint64_t bus, physical, size; /* bytes; physical: the CPU's address of its start */
};
bool arch_pci_window(bool wide, struct pci_window *window);
uint64_t arch_pci_address(uint64_t bus); /* the CPU's address for a bus address; 0: none */

void arch_shutdown(uint32_t status) __attribute__((noreturn)); /* QEMU's exit status has it: boot/README.md */
void arch_reboot(void) __attribute__((noreturn));
/* Tells the host that the system has died, so that it stops the machine and memory can be dumped; returns
 * when the host lets the machine continue. False: the machine cannot notify its host. reason: a line of text
 * in the kernel's memory. */
bool arch_stop_for_dump(const char *reason);

#include <port/machine.h> /* ARCH_NAME, ARCH_ELF_* of programs, ARCH_IRQ_* */
