/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch/ppc64/port.h - what the port's files tell each other. Generic code never sees it.
 */
#ifndef PORT_H
#define PORT_H

#include <arch/boot.h>
#include <arch/mmu.h>
#include <stdbool.h>
#include <stdint.h>

#include "ppc64.h"

struct cpu;

/* ---- what the device tree says (boot.c fills it) ---------------------------------------------------- */

struct platform {
    uint64_t timebase_hz;
    uint32_t console_irq;  /* of the vty; 0: none */
    uint32_t console_unit; /* reg of the vty */
    uint64_t pci_buid;     /* PCI host bridge; 0: none */
    uint64_t pci_memory32, pci_memory32_bus, pci_memory32_size; /* window: processor's address, bus address, bytes */
    uint64_t pci_memory64, pci_memory64_bus, pci_memory64_size;
};
extern struct platform platform;

/* ---- fdt.c: the flattened device tree, as DTSpec 0.4 chapter 5 has it --------------------------------- */

bool fdt_open(const void *tree); /* false: no tree there */
uint32_t fdt_size(void);         /* bytes of all of it */
/* Nodes are offsets; 0: none. */
uint32_t fdt_next(uint32_t node, int *depth); /* in document order; node 0: the root */
const char *fdt_name(uint32_t node);
const void *fdt_property(uint32_t node, const char *name, uint32_t *length); /* NULL: no such */
uint32_t fdt_find(const char *path_or_type); /* "/chosen"; or "type:cpu": the first of that device_type */
uint64_t fdt_cells(const void *property, unsigned first, unsigned count); /* count 1 or 2 cells from cell `first` */

/* ---- the hypervisor ---------------------------------------------------------------------------------- */

/* hcall.h has the numbers and the inline calls. */

/* rtas.c: firmware calls, one at a time (rtas_lock, innermost). Token by name from /rtas; status, -1: no such call.
 * results may be NULL. */
void rtas_init(void); /* reads tokens; device tree open */
int64_t rtas_call(const char *name, const uint32_t *arguments, uint32_t argument_count, uint32_t *results,
                  uint32_t result_count);

/* ---- boot ---------------------------------------------------------------------------------------------- */

/* From start.S, in real mode, at link addresses: real mode ignores the top four bits. tree: physical address of
 * the device tree, or 0 and firmware != 0: Open Firmware's entry (prom.c makes the tree). */
void boot_start(uint64_t tree, uint64_t firmware, uint64_t archive, uint64_t archive_size) __attribute__((noreturn));
void boot_secondary(uint32_t index) __attribute__((noreturn)); /* from start.S, translation on */
void boot_reserve(uint64_t base, uint64_t size);
paddr_t boot_alloc_pages(uint64_t size); /* zeroed, aligned to size, a power of two; before frame_init only */
void boot_mmu_init(void);                /* final kernel tables, process table registered, translation on */
void boot_install_vectors(void);         /* entry.S's code to where exceptions are delivered; before boot_mmu_init */
void boot_print(const char *text);
void __attribute__((noreturn)) boot_fail(const char *text);
extern uint8_t boot_stack[]; /* the boot processor's stacks, CPU_STACKS_BYTES, above a page boot_stack_guard */
uint8_t *boot_map_stacks(uint32_t index, uint64_t frames); /* where they are to be used; NULL: no memory */

/* ---- processors ---------------------------------------------------------------------------------------- */

void cpu_prepare(uint32_t index, uint8_t *stacks); /* struct cpu of a processor that is about to run */
void cpu_load(struct cpu *cpu);                    /* on it: SPRGs, AMR, IAMR, FSCR, PIDR, counters */

/* ---- interrupts ------------------------------------------------------------------------------------------ */

void xics_init_cpu(void);      /* this processor takes all priorities */
void xics_interrupt(void);     /* external interrupt: accept, IPI or handle_interrupt, end */
void clock_interrupt(void);    /* the decrementer ran out: handle_timer, or on to a distant deadline */

struct kernel_regs { /* of a trap out of kernel mode, on the stack */
    uint64_t gpr[32];
    uint64_t nip, msr, lr, ctr, xer, cr, dar, dsisr, vector, reserved;
};
void trap_from_user(uint64_t vector, uint64_t srr1); /* from entry.S; the frame is complete */
void trap_from_kernel(struct kernel_regs *regs);
void trap_special(struct kernel_regs *regs); /* system reset, machine check: real mode entry, own stack */

#endif
