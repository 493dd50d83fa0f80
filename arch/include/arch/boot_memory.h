/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch/boot_memory.h - what a port uses while it fills boot_info: messages, ranges of memory, pages for its
 * first tables. By arch/boot_memory.c; one processor, no locks.
 */
#ifndef ARCH_BOOT_MEMORY_H
#define ARCH_BOOT_MEMORY_H

#include <arch/boot.h>
#include <arch/mmu.h>

/* To the raw console; \n becomes \r\n. */
void boot_print(const char *text);
void boot_fail(const char *text) __attribute__((noreturn)); /* "tarn: TEXT", and the machine ends */

/* Physical addresses, bytes. RAM shrinks to whole pages and is kept in order, reservations grow. */
void boot_add_ram(uint64_t base, uint64_t size);
void boot_reserve(uint64_t base, uint64_t size);
/* Zeroed, aligned to `size`, a power of two up to 1 MiB; from the lowest free RAM, below 4 GiB. Never given
 * back. Once RAM and reservations are known, and before frame_init(). */
paddr_t boot_alloc_pages(uint64_t size);

/* The first archive counts; it is reserved. */
void boot_set_archive(uint64_t base, uint64_t size);
void boot_set_command_line(const char *text); /* cut to its place */

#endif
