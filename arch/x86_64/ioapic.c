/*
 * arch/x86_64/ioapic.c - device interrupts: arch_irq_* of arch/machine.h.
 *
 * Numbers below ARCH_IRQ_LINES are lines of the I/O APICs, the others are messages that devices write to the
 * local APIC. All go to the boot CPU. An I/O APIC has one index and one data register for all its registers:
 * irq_lock covers the pair of accesses, and the message numbers. It is innermost.
 */
#include "port.h"
#include "x86.h"
#include <arch/machine.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/lock.h>
#include <tarn/error.h>

LOCK_CLASS(irq_lock_class, "irq controller");
static struct spinlock irq_lock = SPINLOCK(&irq_lock_class);

/* constant after arch_irq_init, except the registers */
static struct ioapic {
    volatile uint32_t *registers;
    uint32_t first, count; /* its lines */
} ioapics[IOAPICS_MAX];

static uint64_t message_used[(ARCH_IRQ_COUNT - ARCH_IRQ_LINES) / 64]; /* under irq_lock */

#define IOAPIC_VERSION 1
#define IOAPIC_ENTRY   0x10
#define ENTRY_MASKED   (1u << 16)
#define ENTRY_LEVEL    (1u << 15)
#define ENTRY_LOW      (1u << 13)

static uint32_t ioapic_read(struct ioapic *ioapic, uint32_t reg)
{
    ioapic->registers[0] = reg;
    return ioapic->registers[4];
}

static void ioapic_write(struct ioapic *ioapic, uint32_t reg, uint32_t value)
{
    ioapic->registers[0] = reg;
    ioapic->registers[4] = value;
}

static void set_entry(struct ioapic *ioapic, uint32_t line, uint32_t low)
{
    uint32_t reg = IOAPIC_ENTRY + 2 * line;
    ioapic_write(ioapic, reg, ENTRY_MASKED);
    ioapic_write(ioapic, reg + 1, cpus[0].arch.apic_id << 24);
    ioapic_write(ioapic, reg, low);
}

/* The two 8259s could still raise vectors that the kernel takes for exceptions. */
static void silence_8259(void)
{
    outb(0x20, 0x11);
    outb(0xa0, 0x11);
    outb(0x21, VECTOR_SPURIOUS & 0xf8);
    outb(0xa1, VECTOR_SPURIOUS & 0xf8);
    outb(0x21, 4);
    outb(0xa1, 2);
    outb(0x21, 1);
    outb(0xa1, 1);
    outb(0x21, 0xff);
    outb(0xa1, 0xff);
}

void arch_irq_init(void)
{
    if (platform.has_8259)
        silence_8259();
    for (uint32_t i = 0; i < platform.ioapic_count; i++) {
        struct ioapic *ioapic = &ioapics[i];
        ioapic->registers = arch_map_device(platform.ioapic[i].address, 32);
        ioapic->first = platform.ioapic[i].first;
        ioapic->count = (ioapic_read(ioapic, IOAPIC_VERSION) >> 16 & 0xff) + 1;
        for (uint32_t line = 0; line < ioapic->count; line++)
            set_entry(ioapic, line, ENTRY_MASKED);
    }
}

static struct ioapic *find_ioapic(uint32_t pin)
{
    for (uint32_t i = 0; i < platform.ioapic_count; i++)
        if (pin >= ioapics[i].first && pin < ioapics[i].first + ioapics[i].count)
            return &ioapics[i];
    return NULL;
}

/* Lines below 16 are ISA's, edge and high unless the firmware says otherwise; the others are PCI's, level and
 * low. */
static int set_line(uint32_t irq, bool masked)
{
    if (irq >= ARCH_IRQ_COUNT)
        return -E_BAD_ARGUMENT;
    if (irq >= ARCH_IRQ_LINES)
        return 0; /* messages are masked in the device */
    uint32_t pin = irq < 16 ? platform.isa[irq].pin : irq;
    struct ioapic *ioapic = find_ioapic(pin);
    if (!ioapic)
        return -E_BAD_ARGUMENT;
    bool level = irq < 16 ? platform.isa[irq].level : true, low = irq < 16 ? platform.isa[irq].low : true;
    spin_lock(&irq_lock);
    set_entry(ioapic, pin - ioapic->first,
              (VECTOR_IRQ_FIRST + irq) | (level ? ENTRY_LEVEL : 0) | (low ? ENTRY_LOW : 0) |
                  (masked ? ENTRY_MASKED : 0));
    spin_unlock(&irq_lock);
    return 0;
}

int arch_irq_unmask(uint32_t irq)
{
    return set_line(irq, false);
}

void arch_irq_mask(uint32_t irq)
{
    set_line(irq, true);
}

void arch_irq_end(uint32_t irq)
{
    apic_end();
}

int arch_irq_allocate_message(uint32_t device, struct irq_message *message)
{
    int irq = -E_NO_SLOT;
    spin_lock(&irq_lock);
    for (uint32_t i = 0; i < ARCH_IRQ_COUNT - ARCH_IRQ_LINES; i++)
        if (!(message_used[i / 64] & 1ull << i % 64)) {
            message_used[i / 64] |= 1ull << i % 64;
            irq = (int)(ARCH_IRQ_LINES + i);
            break;
        }
    spin_unlock(&irq_lock);
    if (irq >= 0)
        *message = (struct irq_message){.address = 0xfee00000ull | (uint64_t)cpus[0].arch.apic_id << 12,
                                        .data = VECTOR_IRQ_FIRST + (uint32_t)irq};
    return irq;
}

void arch_irq_free_message(uint32_t irq)
{
    uint32_t i = irq - ARCH_IRQ_LINES;
    spin_lock(&irq_lock);
    message_used[i / 64] &= ~(1ull << i % 64);
    spin_unlock(&irq_lock);
}
