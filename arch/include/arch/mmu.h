/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch/mmu.h - page tables and translation buffers.
 *
 * All table changes of a space happen under its lock (space.h). Tables are made of frames from frame_alloc.
 * The port knows the addresses; generic code decides what is mapped. Flags are MAP_* of tarn/abi.h.
 */
#ifndef ARCH_MMU_H
#define ARCH_MMU_H

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t paddr_t;

struct arch_space; /* <port/mmu.h>: root table */

/* The direct map: all RAM at one offset. */
static inline void *phys_to_virt(paddr_t address);
static inline paddr_t virt_to_phys(const void *address); /* direct map or kernel image */

/* A new space: kernel half, trace info page (read-only), trace windows of all processors. -E_NO_MEMORY. */
int arch_space_init(struct arch_space *space);
/* Frees all tables; every user page is unmapped already or its frame owned elsewhere. How many frames. */
uint32_t arch_space_destroy(struct arch_space *space);
/* This processor uses it from now on, and has forgotten all user translations of before. What it stored
 * before is seen by others before it walks the new tables, and what it stores after not before it has done
 * with the old ones (pairs with tlb_shootdown, which changes tables and then looks at who uses them:
 * space.h). */
static inline void arch_space_switch(struct arch_space *space);
/* A root that has the kernel half only; idle processors use it. */
extern struct arch_space *arch_kernel_space;

/* Page tables can name physical addresses below this only. */
uint64_t arch_physical_limit(void);

/* Changes of tables are seen by every processor that walks them after the function's return; who may hold
 * an earlier translation must be told to forget it. A page that becomes executable here is fetched as it is
 * in memory now: what was stored before, whoever stored it, is what runs. (Ports whose tables are trees take
 * these four from arch/page_table.c.) */
/* Installs a user page; what was there before is replaced (the caller flushes). -E_NO_MEMORY: no table. */
int arch_map_page(struct arch_space *space, uint64_t address, paddr_t frame, uint32_t flags);
/* Unmaps all of [address, address + size), skipping empty tables; how many pages were mapped. */
uint64_t arch_unmap_range(struct arch_space *space, uint64_t address, uint64_t size);
/* Changes rights of what is mapped in the range; how many pages were. */
uint64_t arch_protect_range(struct arch_space *space, uint64_t address, uint64_t size, uint32_t flags);
/* The frame and MAP_* flags behind an address; ~0 if none. */
paddr_t arch_lookup_page(struct arch_space *space, uint64_t address, uint32_t *flags);

/* Forget users' translations on this processor, which has the tables loaded. */
static inline void arch_tlb_flush_page(uint64_t address);
static inline void arch_tlb_flush_all(void);

/* Kernel mappings outside the direct map: the trace windows. Mapped for users at USER_TRACE_WINDOWS and for
 * the kernel at ARCH_TRACE_WINDOWS, at the same offset, readable and writable; in all spaces, also those that
 * are there already. What is once mapped stays, so nobody ever has to forget anything. -E_NO_MEMORY. */
int arch_trace_map(uint64_t offset, paddr_t frame);
/* Makes device registers accessible to the kernel, uncached. */
void *arch_map_device(paddr_t address, uint64_t size);

#include <port/mmu.h>
#endif
