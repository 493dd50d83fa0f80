/* arch/boot_memory.h - helpers for a port that fills boot_info: messages, memory ranges, pages for its first
 * tables. Implemented in arch/boot_memory.c; one CPU, no locks. */
#pragma once

#include <arch/boot.h>
#include <arch/mmu.h>

/* Prints to the raw console; \n becomes \r\n. */
void boot_print(const char *text);
void boot_fail(const char *text) __attribute__((noreturn)); /* prints "tarn: TEXT" and ends the machine */

/* Physical addresses, bytes. RAM is shrunk to whole pages and kept sorted; occupied ranges are extended to
 * whole pages. */
void boot_add_ram(uint64_t base, uint64_t size);
void boot_occupy(uint64_t base, uint64_t size);
/* Allocates zeroed pages, aligned to `size`, a power of two up to 1 MiB, from the lowest free RAM below 4
 * GiB. Never freed. Call when RAM and occupied ranges are known, and before frame_init(). */
paddr_t boot_alloc_pages(uint64_t size);

/* Sets the archive, whose memory is occupied; only the first call counts. */
void boot_set_archive(uint64_t base, uint64_t size);
void boot_set_command_line(const char *text); /* cut to the size of boot_info.command_line */
