/*
 * arch/ppc64/xics.c - external interrupts through the hypervisor (LoPAPR 14.5.4.7): arch_irq_* of
 * arch/machine.h, inter-processor interrupts.
 *
 * Each CPU has one source for IPIs; cpu->arch.ipi_pending has their kinds. Devices' sources go to the boot
 * CPU. A CPU accepts and ends all its interrupts itself with interrupts off, so only one is in service at a
 * time.
 */
#include "hcall.h"
#include "port.h"
#include <arch/debug.h>
#include <arch/machine.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/lock.h>
#include <kernel/kernel.h>
#include <stdatomic.h>
#include <tarn/error.h>

#define SOURCE_NONE 0u
#define SOURCE_IPI  2u

/* Lower values are more urgent. A CPU accepts interrupts that are more urgent than its own priority. */
#define PRIORITY_IPI        4u
#define PRIORITY_DEVICE     5u
#define PRIORITY_NEVER      0xffu
#define PROCESSOR_TAKES_ALL 0xffu

static LOCK_CLASS(irq_lock_class, "irq controller");
/* covers the numbers of messages; outside rtas_lock */
static struct spinlock irq_lock = SPINLOCK(&irq_lock_class);

/* The XICS source of each interrupt number, or SOURCE_NONE. Lines are written once; a message's is written
 * under irq_lock before its source can interrupt. */
static _Atomic uint32_t sources[ARCH_IRQ_COUNT];
static uint32_t message_device[ARCH_IRQ_COUNT]; /* under irq_lock; of messages in use */

/* ---- the controller ------------------------------------------------------------------------------- */

static int set_source(uint32_t source, uint32_t priority)
{
    const uint32_t arguments[] = {source, cpus[0].arch.hardware_id, priority};
    return rtas_call(RTAS_SET_XIVE, arguments, 3, NULL, 0) ? -E_BAD_ARGUMENT : 0;
}

static void end_interrupt(uint32_t source)
{
    hcall(H_EOI, (uint64_t)PROCESSOR_TAKES_ALL << 24 | source, 0, 0, 0, NULL);
}

void xics_init_cpu(void)
{
    hcall(H_CPPR, PROCESSOR_TAKES_ALL, 0, 0, 0, NULL);
}

/* ---- inter-processor interrupts ------------------------------------------------------------------- */

void arch_send_ipi(struct cpu *target, enum ipi_kind kind)
{
    /* Release: a CPU that takes the kind sees what was stored for it; pairs with take_ipis. */
    atomic_fetch_or_explicit(&target->arch.ipi_pending, 1u << kind, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst); /* sets the bit before the interrupt */
    hcall(H_IPI, target->arch.hardware_id, PRIORITY_IPI, 0, 0, NULL);
}

void arch_interrupt_self(void)
{
    arch_send_ipi(this_cpu(), IPI_RESCHEDULE); /* each step is one hcall or one atomic operation */
}

void arch_break_in(struct cpu *target)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* its memory is ready before the reset */
    hcall(H_SIGNAL_SYS_RESET, target->arch.hardware_id, 0, 0, 0, NULL);
}

/* A kind that is set after the exchange has its interrupt raised after the clear: none is lost. */
static void take_ipis(void)
{
    struct arch_cpu *arch = &this_cpu()->arch;
    hcall(H_IPI, arch->hardware_id, PRIORITY_NEVER, 0, 0, NULL);
    end_interrupt(SOURCE_IPI);
    atomic_thread_fence(memory_order_seq_cst); /* clears before the exchange; pairs with arch_send_ipi's */
    uint32_t pending = atomic_exchange_explicit(&arch->ipi_pending, 0, memory_order_acquire);
    for (; pending; pending &= pending - 1)
        handle_ipi((uint32_t)__builtin_ctz(pending));
}

/* ---- devices -------------------------------------------------------------------------------------- */

static uint32_t irq_of(uint32_t source)
{
    for (uint32_t irq = 0; irq < ARCH_IRQ_COUNT; irq++)
        if (atomic_load_explicit(&sources[irq], memory_order_relaxed) == source)
            return irq;
    return ARCH_IRQ_COUNT;
}

void xics_interrupt(uint64_t ip)
{
    uint64_t results[HCALL_RESULTS];
    if (hcall(H_XIRR, 0, 0, 0, 0, results))
        return;
    uint32_t source = results[0] & 0xffffff;
    if (source == SOURCE_NONE) /* the interrupt went away */
        return;
    if (source == SOURCE_IPI) {
        take_ipis();
        return;
    }
    uint32_t irq = irq_of(source);
    if (irq < ARCH_IRQ_COUNT)
        handle_interrupt(irq, ip); /* calls arch_irq_end */
    else
        end_interrupt(source); /* of a message that was freed */
}

void arch_irq_init(void)
{
    sources[IRQ_CONSOLE] = platform.console_irq;
    for (unsigned pin = 0; pin < PCI_PINS; pin++)
        sources[IRQ_PCI + pin] = platform.pci_irq[pin];
    for (uint32_t irq = 0; irq < ARCH_IRQ_LINES; irq++)
        arch_irq_mask(irq);
}

/* Messages are edges, and masked in the device. */
static int set_line(uint32_t irq, uint32_t priority)
{
    uint32_t source = irq < ARCH_IRQ_COUNT ? sources[irq] : SOURCE_NONE;
    if (source == SOURCE_NONE)
        return -E_BAD_ARGUMENT;
    return irq < ARCH_IRQ_LINES ? set_source(source, priority) : 0;
}

int arch_irq_unmask(uint32_t irq)
{
    return set_line(irq, PRIORITY_DEVICE);
}

void arch_irq_mask(uint32_t irq)
{
    set_line(irq, PRIORITY_NEVER);
}

void arch_irq_end(uint32_t irq)
{
    end_interrupt(sources[irq]);
}

/* ---- messages ------------------------------------------------------------------------------------- */

static bool has_message(uint32_t device)
{
    for (uint32_t irq = ARCH_IRQ_LINES; irq < ARCH_IRQ_COUNT; irq++)
        if (sources[irq] != SOURCE_NONE && message_device[irq] == device)
            return true;
    return false;
}

/* The firmware writes the device's table, so the driver has nothing to write: address 0. */
static int allocate_message(uint32_t device)
{
    if (has_message(device))
        return -E_BUSY;
    uint32_t irq = ARCH_IRQ_LINES;
    while (irq < ARCH_IRQ_COUNT && sources[irq] != SOURCE_NONE)
        irq++;
    if (irq == ARCH_IRQ_COUNT)
        return -E_NO_SLOT;
    uint32_t source = pci_allocate_message(device);
    if (source == SOURCE_NONE)
        return -E_UNSUPPORTED;
    message_device[irq] = device;
    sources[irq] = source;
    set_source(source, PRIORITY_DEVICE);
    return (int)irq;
}

int arch_irq_allocate_message(uint32_t device, struct irq_message *message)
{
    spin_lock(&irq_lock);
    int irq = allocate_message(device);
    spin_unlock(&irq_lock);
    *message = (struct irq_message){0};
    return irq;
}

void arch_irq_free_message(uint32_t irq)
{
    spin_lock(&irq_lock);
    set_source(sources[irq], PRIORITY_NEVER);
    pci_free_message(message_device[irq]);
    sources[irq] = SOURCE_NONE;
    spin_unlock(&irq_lock);
}
