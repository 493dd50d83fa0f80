/*
 * arch/boot.h - what the port provides before generic code runs.
 *
 * The port's entry code brings up one CPU with paging on, the kernel at its link address and all RAM in the
 * direct map. Its first C statement is trace_boot_init(); it fills boot_info and calls kernel_main().
 *
 * At kernel_main() and kernel_secondary_main() this_cpu() works on the CPU: the port has set
 * cpus[index].block.self, .index, .kernel_stack_top and .arch. Traps are handled, interrupts are off.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define BOOT_RANGES_MAX 64
#define BOOT_CPUS_MAX   64

struct boot_range {
    uint64_t base, size; /* physical, bytes; shrunk to whole pages */
};

struct boot_info {
    struct boot_range ram[BOOT_RANGES_MAX];      /* usable memory */
    struct boot_range occupied[BOOT_RANGES_MAX]; /* parts of it: kernel, archive, tables */
    uint32_t ram_count, occupied_count;
    uint64_t archive_base, archive_size; /* boot archive, physical; 0 if none */
    uint32_t cpu_count;                  /* CPUs that can be started, including this one */
    uint32_t cpu_hardware_id[BOOT_CPUS_MAX];
    char command_line[512];
};
extern struct boot_info boot_info;

static inline bool boot_is_occupied(uint64_t base, uint64_t size)
{
    for (uint32_t i = 0; i < boot_info.occupied_count; i++) {
        const struct boot_range *range = &boot_info.occupied[i];
        if (base < range->base + range->size && range->base < base + size)
            return true;
    }
    return false;
}

/* Starts CPU `index` (1..cpu_count-1), which then runs kernel_secondary_main(). 0 or -E_*. */
int arch_start_cpu(uint32_t index);

void kernel_main(void) __attribute__((noreturn));
void kernel_secondary_main(uint32_t index) __attribute__((noreturn));
