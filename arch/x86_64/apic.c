/*
 * arch/x86_64/apic.c - the local APIC of each CPU: inter-processor interrupts, end of interrupt, timer.
 *
 * All CPUs see their own at the same address, so nothing is shared and no lock is needed. The kernel runs
 * with interrupts off, so the two writes of a command are not interrupted. Read next: ioapic.c, clock.c.
 */
#include "port.h"
#include "x86.h"
#include <arch/debug.h>
#include <kernel/cpu/cpu.h>
#include <stdatomic.h>

enum apic_register {
    APIC_EOI = 0x0b0,
    APIC_SPURIOUS = 0x0f0,
    APIC_COMMAND_LOW = 0x300,
    APIC_COMMAND_HIGH = 0x310,
    APIC_LVT_TIMER = 0x320,
    APIC_LVT_LINT0 = 0x350,
    APIC_LVT_LINT1 = 0x360,
    APIC_TIMER_INITIAL = 0x380,
    APIC_TIMER_CURRENT = 0x390,
    APIC_TIMER_DIVIDE = 0x3e0,
};
#define LVT_MASKED        (1u << 16)
#define LVT_NMI           (4u << 8)
#define SPURIOUS_ENABLE   (1u << 8)
#define DIVIDE_BY_1       0xbu
#define COMMAND_PENDING   (1u << 12)
#define COMMAND_ASSERT    (1u << 14)
#define COMMAND_SELF      (1u << 18)
#define COMMAND_NMI       (4u << 8)
#define COMMAND_INIT      (5u << 8)
#define COMMAND_START     (6u << 8)
#define APIC_BASE_ENABLED (1u << 11)

static volatile uint32_t *apic;

static uint32_t apic_read(enum apic_register reg)
{
    return apic[reg / 4];
}

static void apic_write(enum apic_register reg, uint32_t value)
{
    apic[reg / 4] = value;
}

void apic_init_cpu(void)
{
    if (!apic)
        apic = arch_map_device(platform.apic_base, 4096);
    write_msr(MSR_APIC_BASE, read_msr(MSR_APIC_BASE) | APIC_BASE_ENABLED);
    apic_write(APIC_LVT_TIMER, LVT_MASKED);
    apic_write(APIC_LVT_LINT0, LVT_MASKED);
    apic_write(APIC_LVT_LINT1, LVT_NMI);
    apic_write(APIC_SPURIOUS, SPURIOUS_ENABLE | VECTOR_SPURIOUS);
}

void apic_end(void)
{
    apic_write(APIC_EOI, 0);
}

static void send_command(uint32_t apic_id, uint32_t command)
{
    while (apic_read(APIC_COMMAND_LOW) & COMMAND_PENDING)
        arch_relax();
    apic_write(APIC_COMMAND_HIGH, apic_id << 24);
    apic_write(APIC_COMMAND_LOW, command);
}

void apic_send_init(uint32_t apic_id)
{
    send_command(apic_id, COMMAND_INIT | COMMAND_ASSERT);
}

void apic_send_start(uint32_t apic_id, uint8_t page)
{
    send_command(apic_id, COMMAND_START | COMMAND_ASSERT | page);
}

void arch_send_ipi(struct cpu *target, enum ipi_kind kind)
{
    send_command(target->arch.apic_id, COMMAND_ASSERT | (VECTOR_IPI_FIRST + (uint32_t)kind));
}

/* A command to the CPU itself uses no APIC_COMMAND_HIGH, so a send_command that an NMI interrupted still
 * reaches its target. */
void arch_interrupt_self(void)
{
    while (apic_read(APIC_COMMAND_LOW) & COMMAND_PENDING)
        arch_relax();
    apic_write(APIC_COMMAND_LOW, COMMAND_SELF | COMMAND_ASSERT | (VECTOR_IPI_FIRST + IPI_RESCHEDULE));
}

/* May interrupt a send_command on this CPU: the register is restored, so that command still reaches its
 * target. */
void arch_break_in(struct cpu *target)
{
    uint32_t high = apic_read(APIC_COMMAND_HIGH);
    send_command(target->arch.apic_id, COMMAND_NMI | COMMAND_ASSERT);
    apic_write(APIC_COMMAND_HIGH, high);
}

/* An NMI disturbs no code, so the NMI itself is the progress check. */
void arch_request_progress(struct cpu *target)
{
    atomic_store(&target->arch.requested, true);
    arch_break_in(target);
}

bool arch_has_run(struct cpu *target)
{
    return !atomic_load(&target->arch.requested);
}

void apic_timer_init(void)
{
    apic_write(APIC_TIMER_DIVIDE, DIVIDE_BY_1);
    apic_write(APIC_LVT_TIMER, VECTOR_TIMER);
}

void apic_timer_start(uint32_t count)
{
    apic_write(APIC_TIMER_INITIAL, count);
}

uint32_t apic_timer_left(void)
{
    return apic_read(APIC_TIMER_CURRENT);
}
