/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch/ppc64/port.h - what the port's files tell each other. Generic code never sees it.
 */
#ifndef PORT_H
#define PORT_H

#include <arch/boot.h>
#include <arch/machine.h>
#include <arch/mmu.h>
#include <stdbool.h>
#include <stdint.h>

#include "ppc64.h"

struct cpu;

/* ---- what the device tree says (boot.c fills it) -------------------------------------------------- */

#define PCI_PINS 4
struct platform {
    uint64_t timebase_hz;
    uint32_t console_irq;       /* of the vty; 0: none */
    uint32_t console_unit;      /* reg of the vty */
    uint64_t pci_buid;          /* PCI host bridge; 0: none */
    uint32_t pci_irq[PCI_PINS]; /* of its INTA..INTD; 0: none */
    struct pci_window pci_memory32, pci_memory64;
};
extern struct platform platform;

/* ---- fdt.c: the flattened device tree, as DTSpec 0.4 chapter 5 has it ----------------------------- */

bool fdt_open(const void *tree); /* false: no tree there */
uint32_t fdt_size(void);         /* bytes of all of it */
uint32_t fdt_boot_cpu(void);     /* hardware number of the processor that boots */
/* Nodes are offsets; 0: none. */
uint32_t fdt_next(uint32_t node, int *depth); /* in document order; node 0: the root */
const void *fdt_property(uint32_t node, const char *name, uint32_t *length); /* NULL: no such */
bool fdt_has_type(uint32_t node, const char *type);                          /* device_type */
uint32_t fdt_find(const char *name);                                         /* right below the root */
uint64_t fdt_cells(const void *property, unsigned first, unsigned count); /* 1 or 2 cells from cell `first` */

/* ---- the hypervisor ------------------------------------------------------------------------------- */

/* hcall.h has the numbers and the inline calls. */

/* rtas.c: firmware calls. */
enum rtas_function {
    RTAS_POWER_OFF,
    RTAS_SYSTEM_REBOOT,
    RTAS_OS_TERM,
    RTAS_START_CPU,
    RTAS_STOP_SELF,
    RTAS_SET_XIVE,
    RTAS_GET_TIME_OF_DAY,
    RTAS_READ_PCI_CONFIG,
    RTAS_WRITE_PCI_CONFIG,
    RTAS_CHANGE_MSI,
    RTAS_QUERY_INTERRUPT_SOURCE,
    RTAS_FUNCTIONS
};
#define RTAS_NO_CALL (-1) /* the status of a call that the firmware does not have; hardware errors too */
void rtas_init(void);     /* device tree open */
/* One at a time (rtas_lock, innermost). The status: 0 or RTAS's. result_count does not include it. */
int64_t rtas_call(enum rtas_function function, const uint32_t *arguments, uint32_t argument_count,
                  uint32_t *results, uint32_t result_count);
/* A call after which nothing comes: takes no lock, which a processor that was stopped may hold. */
int64_t rtas_call_final(enum rtas_function function, const uint32_t *arguments, uint32_t argument_count);
void rtas_stop_self(void); /* this processor sleeps for good; returns if the firmware cannot do it */

/* prom.c: asks Open Firmware for all of its tree and flattens it; its physical address. The firmware is done
 * then. */
uint64_t prom_flatten_tree(uint64_t firmware);

/* ---- boot ----------------------------------------------------------------------------------------- */

/* From start.S, in real mode, at link addresses: real mode ignores the top four bits. tree: physical address
 * of the device tree, or 0 and firmware != 0: Open Firmware's entry (prom.c makes the tree). */
void boot_start(uint64_t tree, uint64_t firmware, uint64_t archive, uint64_t archive_size)
    __attribute__((noreturn));
void boot_secondary(void) __attribute__((noreturn)); /* from start.S, translation on */
extern const char secondary_start[];                 /* start.S: where RTAS lets a processor begin */
void boot_mmu_init(void);        /* final kernel tables, process table registered, translation on */
void boot_install_vectors(void); /* entry.S's code to where exceptions are delivered; before boot_mmu_init */
extern uint8_t boot_stack[];     /* the boot processor's, CPU_STACKS_BYTES, above the page boot_stack_guard */

/* ---- processors ----------------------------------------------------------------------------------- */

void cpu_prepare(uint32_t index, uint8_t *stacks); /* struct cpu of a processor that is about to run */
void cpu_load(struct cpu *cpu);                    /* on it: SPRGs, AMR, IAMR, FSCR, PIDR, counters */

/* ---- interrupts ----------------------------------------------------------------------------------- */

#define IRQ_CONSOLE 0u
#define IRQ_PCI     1u              /* INTA; and three more */
void xics_init_cpu(void);           /* this processor takes all priorities */
void vpa_register(struct cpu *cpu); /* this processor; see arch_nudge */
void xics_interrupt(uint64_t ip);   /* external interrupt: accept, IPI or handle_interrupt, end */
/* A message for the first entry of a device's MSI-X table: its source, 0: none. Under xics.c's irq_lock. */
uint32_t pci_allocate_message(uint32_t device);
void pci_free_message(uint32_t device);
void clock_interrupt(void); /* the decrementer ran out: handle_timer, or on to a distant deadline */

struct kernel_regs { /* of a trap out of kernel mode, on the stack */
    uint64_t gpr[32];
    uint64_t nip, msr, lr, ctr, xer, cr, dar, dsisr, vector, reserved;
};
void trap_from_user(uint64_t vector, uint64_t srr1); /* from entry.S; the frame is complete */
void trap_from_kernel(struct kernel_regs *regs);
void trap_program_lost(void);                /* where a program was is lost */
void trap_special(struct kernel_regs *regs); /* system reset, machine check: real mode entry, own stack */

#endif
