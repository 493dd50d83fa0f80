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

/* ---- arch/boot_memory.c: helpers for a port that fills boot_info; one CPU, no locks --------------- */

/* Prints to the raw console; \n becomes \r\n. */
void boot_print(const char *text);
void boot_fail(const char *text) __attribute__((noreturn)); /* prints "tarn: TEXT" and ends the machine */

/* Physical addresses, bytes. RAM is shrunk to whole pages and kept sorted; occupied ranges are extended to
 * whole pages. */
void boot_add_ram(uint64_t base, uint64_t size);
void boot_occupy(uint64_t base, uint64_t size);
/* Allocates zeroed pages, aligned to `size`, a power of two up to 1 MiB, from the lowest free RAM below 4
 * GiB. Never freed. Call when RAM and occupied ranges are known, and before frame_init(). */
uint64_t boot_alloc_pages(uint64_t size);

/* Sets the archive, whose memory is occupied; only the first call counts. */
void boot_set_archive(uint64_t base, uint64_t size);
void boot_set_command_line(const char *text); /* cut to the size of boot_info.command_line */

void kernel_main(void) __attribute__((noreturn));
void kernel_secondary_main(uint32_t index) __attribute__((noreturn));
