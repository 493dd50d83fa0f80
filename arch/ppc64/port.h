/* arch/ppc64/port.h - declarations shared by the port's files, hidden from generic code. */
#pragma once

#include <arch/boot.h>
#include <arch/machine.h>
#include <arch/mmu.h>
#include <stdbool.h>
#include <stdint.h>

#include "ppc64.h"

struct cpu;

/* ---- facts from the device tree (boot.c fills them in) -------------------------------------------- */

#define PCI_PINS 4
struct platform {
    uint64_t timebase_hz;
    uint32_t console_irq;  /* of the vty; 0: none */
    uint32_t console_unit; /* reg of the vty */
    /* PCI host bridge; 0: none */
    uint64_t pci_buid;
    uint32_t pci_irq[PCI_PINS]; /* of its INTA..INTD; 0: none */
    struct pci_window pci_memory32, pci_memory64;
};
extern struct platform platform;

/* ---- fdt.c: the flattened device tree (DTSpec 0.4, chapter 5) ------------------------------------- */

bool fdt_open(const void *tree); /* false: no tree there */
uint32_t fdt_size(void);         /* bytes of the whole tree */
uint32_t fdt_boot_cpu(void);     /* hardware number of the boot CPU */
/* Nodes are offsets; 0: none. */
uint32_t fdt_next(uint32_t node, int *depth); /* in document order; node 0: the root */
const void *fdt_property(uint32_t node, const char *name, uint32_t *length); /* NULL: none */
bool fdt_has_type(uint32_t node, const char *type);                          /* device_type */
uint32_t fdt_find(const char *name);                                         /* among the root's children */
uint64_t fdt_cells(const void *property, unsigned first, unsigned count); /* 1 or 2 cells from cell `first` */

/* ---- the hypervisor ------------------------------------------------------------------------------- */

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
#define RTAS_NO_CALL (-1) /* status of a call that the firmware does not have; also hardware errors */
void rtas_init(void);     /* call when the device tree is open */
/* Calls the firmware, one call at a time (rtas_lock, innermost). Returns 0 or RTAS's status; result_count
 * excludes it. */
int64_t rtas_call(enum rtas_function function, const uint32_t *arguments, uint32_t argument_count,
                  uint32_t *results, uint32_t result_count);
/* A final call, such as power-off: takes no lock, because a stopped CPU may hold it. */
int64_t rtas_call_final(enum rtas_function function, const uint32_t *arguments, uint32_t argument_count);
void rtas_stop_self(void); /* stops this CPU for good; returns if the firmware cannot */

/* prom.c: copies Open Firmware's tree into a flattened one and returns its physical address. The firmware
 * cannot be used afterwards. */
uint64_t prom_flatten_tree(uint64_t firmware);

/* ---- boot ----------------------------------------------------------------------------------------- */

/* From start.S, in real mode, at link addresses: real mode ignores the top four bits. tree: physical address
 * of the device tree, or 0; then firmware is Open Firmware's entry, and prom.c makes the tree. */
void boot_start(uint64_t tree, uint64_t firmware, uint64_t archive, uint64_t archive_size)
    __attribute__((noreturn));
void boot_secondary(void) __attribute__((noreturn)); /* from start.S, translation on */
extern const char secondary_start[];                 /* start.S: where RTAS starts a CPU */
void boot_mmu_init(void); /* final kernel tables, process table registered, translation on */
/* copies entry.S's vectors to where exceptions are delivered; before boot_mmu_init */
void boot_install_vectors(void);
extern uint8_t boot_stack[]; /* the boot CPU's, CPU_STACKS_BYTES, above the page boot_stack_guard */

/* ---- CPUs ----------------------------------------------------------------------------------------- */

void cpu_prepare(uint32_t index, uint8_t *stacks); /* fills struct cpu of a CPU before it runs */
void cpu_load(struct cpu *cpu);                    /* on that CPU: SPRGs, AMR, IAMR, FSCR, PIDR, counters */

/* ---- interrupts ----------------------------------------------------------------------------------- */

#define IRQ_CONSOLE 0u
#define IRQ_PCI     1u              /* INTA; three more follow */
void xics_init_cpu(void);           /* makes this CPU accept all priorities */
void vpa_register(struct cpu *cpu); /* on this CPU; see arch_request_progress */
void xics_interrupt(uint64_t ip);   /* external interrupt: accept, IPI or handle_interrupt, end */
/* A message for the first entry of a device's MSI-X table: returns its source, or 0. xics.c's irq_lock held.
 */
uint32_t pci_allocate_message(uint32_t device);
void pci_free_message(uint32_t device);
/* the decrementer expired: handle_timer, or the next step to a distant deadline */
void clock_interrupt(void);

/* of a trap in kernel mode, on the stack */
struct kernel_regs {
    uint64_t gpr[32];
    uint64_t nip, msr, lr, ctr, xer, cr, dar, dsisr, vector, reserved;
};
void trap_from_user(uint64_t vector, uint64_t srr1); /* from entry.S; the frame is complete */
void trap_from_kernel(struct kernel_regs *regs);
void trap_program_lost(void); /* the program's address was lost */
/* system reset, machine check: entered in real mode, with their own stack */
void trap_special(struct kernel_regs *regs);
