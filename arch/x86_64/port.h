/* arch/x86_64/port.h - declarations shared by the port's files, hidden from generic code. */
#pragma once

#include <arch/boot.h>
#include <arch/mmu.h>
#include <stdbool.h>
#include <stdint.h>

#include "x86.h"

struct cpu;

/* ---- acpi.c: facts from the firmware's tables ----------------------------------------------------- */

#define IOAPICS_MAX 8
struct platform {
    uint64_t hpet_base; /* 0: none */
    uint64_t apic_base; /* local APIC */
    uint16_t pm_timer;  /* I/O port of the ACPI timer, 0: none */
    uint32_t ioapic_count;
    struct {
        uint64_t address;
        uint32_t first; /* its first interrupt number */
    } ioapic[IOAPICS_MAX];
    struct {
        uint32_t pin; /* global number of the line */
        bool low, level;
    } isa[16];
    uint16_t pm1a_control; /* I/O port, 0: none */
    uint16_t sleep_type;   /* value for power off */
    uint16_t pvpanic;      /* I/O port of the device that reports a panic to the host; 0: none */
    bool has_8259;
};
extern struct platform platform;
/* Fills in platform and the CPUs of boot_info. rsdp: physical; 0: search where BIOSes put it. */
void acpi_read(uint64_t rsdp);

/* ---- boot ----------------------------------------------------------------------------------------- */

enum boot_protocol { BOOT_PVH = 1, BOOT_MULTIBOOT2 = 2 };
void boot_start(uint64_t protocol, uint64_t info) __attribute__((noreturn)); /* from start.S */
void boot_secondary(uint32_t index) __attribute__((noreturn));
void boot_mmu_init(void); /* final kernel tables */

/* ---- CPUs ----------------------------------------------------------------------------------------- */

void cpu_check_features(void);                     /* stops with a message if one is missing */
void cpu_prepare(uint32_t index, uint8_t *stacks); /* fills struct cpu of a CPU before it runs */
/* on that CPU: descriptor tables, control registers, MSRs */
void cpu_load(struct cpu *cpu);
extern uint8_t boot_stack[]; /* the boot CPU's stacks */

/* ---- interrupts ----------------------------------------------------------------------------------- */

void apic_init_cpu(void); /* this CPU's local APIC */
void apic_end(void);      /* the interrupt in service is done */
void apic_send_init(uint32_t apic_id);
/* the CPU begins at physical page << 12, in real mode */
void apic_send_start(uint32_t apic_id, uint8_t page);
void apic_timer_init(void);
void apic_timer_start(uint32_t count); /* one interrupt after `count` ticks of the APIC's clock */
uint32_t apic_timer_left(void);
void apic_timer_expired(void); /* clock.c: handles that interrupt */
void spin(void);               /* waits some microseconds; also before the clock's rate is known */
/* waits at least `us`, at most some microseconds more; when the clock's rate is known */
void delay_us(uint32_t us);

/* of a trap in kernel mode, on the stack */
struct kernel_regs {
    uint64_t r15, r14, r13, r12, r11, r10, r9, r8, rbp, rdi, rsi, rdx, rcx, rbx, rax;
    uint64_t vector, error, rip, cs, rflags, rsp, ss;
};
void trap_from_user(uint64_t vector, uint64_t error); /* from entry.S */
void trap_from_kernel(struct kernel_regs *regs);
void trap_special(struct kernel_regs *regs); /* NMI, double fault, machine check: on stacks of their own */
