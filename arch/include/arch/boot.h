/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch/boot.h - what the port finds out before generic code runs.
 *
 * The port's entry code brings up one processor with paging on, the kernel at its link address and all RAM in
 * the direct map, fills boot_info, calls trace_boot_init() as its first C statement and then kernel_main().
 *
 * When these are entered, this_cpu() works on the processor: the port has set cpus[index].block.self, .index,
 * .kernel_stack_top and .arch; traps are caught, interrupts off.
 */
#ifndef ARCH_BOOT_H
#define ARCH_BOOT_H

#include <stdint.h>

#define BOOT_RANGES_MAX 64
#define BOOT_CPUS_MAX   64

struct boot_range {
    uint64_t base, size; /* physical, bytes; page aligned inwards */
};

struct boot_info {
    struct boot_range ram[BOOT_RANGES_MAX];      /* usable memory */
    struct boot_range reserved[BOOT_RANGES_MAX]; /* parts of it that are taken: kernel, archive, tables */
    uint32_t ram_count, reserved_count;
    uint64_t archive_base, archive_size; /* boot archive, physical; 0 if none */
    uint32_t cpu_count;                  /* processors that can be started, this one included */
    uint32_t cpu_hardware_id[BOOT_CPUS_MAX];
    char command_line[512];
};
extern struct boot_info boot_info;

/* Starts processor `index` (1..cpu_count-1); it ends up in kernel_secondary_main(). 0 or -E_*. */
int arch_start_cpu(uint32_t index);

/* Entry points that generic code gives to the port. */
void kernel_main(void) __attribute__((noreturn));
void kernel_secondary_main(uint32_t index) __attribute__((noreturn));

#endif
