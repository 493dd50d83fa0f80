/*
 * arch/mmu.h - page tables and TLBs.
 *
 * All table changes of a space happen under its lock (space.h). Tables consist of frames from frame_alloc.
 * The port decides the address map; generic code decides what is mapped. Flags are MAP_* of tarn/abi.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t paddr_t;

struct arch_space; /* <port/mmu.h>: root table */

/* The direct map: all RAM at one offset. */
static inline void *phys_to_virt(paddr_t address);
static inline paddr_t virt_to_phys(const void *address); /* in the direct map or the kernel */

/* Initializes a space: kernel half, trace info page (read-only), trace rings of all CPUs. 0 or
 * -E_NO_MEMORY. */
int arch_space_init(struct arch_space *space);
/* Frees all tables; user pages must be unmapped, or their frames owned elsewhere. Returns the frames freed.
 */
uint32_t arch_space_destroy(struct arch_space *space);
/* Switches this CPU to the space and drops all earlier user translations. Other CPUs see its earlier stores
 * before it walks the new tables, and its later stores only after it has finished with the old ones (pairs
 * with tlb_shootdown, which changes tables and then checks which CPUs use them: space.h). */
static inline void arch_space_switch(struct arch_space *space);
/* A root with the kernel half only, for idle CPUs. */
extern struct arch_space *arch_kernel_space;

/* Page tables can only hold physical addresses below this. */
uint64_t arch_physical_limit(void);

/* After each of these functions returns, every CPU's table walk sees the change; CPUs that may hold an
 * earlier translation must be told to drop it. A page that becomes executable is executed as it is in memory
 * now, whichever CPU stored it. (Ports whose tables are trees use arch/page_table.c.) */
/* Maps a user page in place of any other (the caller flushes). -E_NO_MEMORY: no table. */
int arch_map_page(struct arch_space *space, uint64_t address, paddr_t frame, uint32_t flags);
/* Maps those of `count` user pages that are not mapped; a page without a frame (FRAME_NONE) stays as it is.
 * The pages are in one aligned block of ARCH_MAP_BLOCK. Returns how many it has mapped. */
#define ARCH_MAP_BLOCK 16u
uint32_t arch_map_missing(struct arch_space *space, uint64_t address, const paddr_t *frames, uint32_t count,
                          uint32_t flags);
/* Unmaps [address, address + size), skipping empty tables; returns how many pages were mapped. */
uint64_t arch_unmap_range(struct arch_space *space, uint64_t address, uint64_t size);
/* Changes rights of the mapped pages in the range; returns how many. */
uint64_t arch_protect_range(struct arch_space *space, uint64_t address, uint64_t size, uint32_t flags);
/* The frame and MAP_* flags of an address; ~0 if none. */
paddr_t arch_lookup_page(struct arch_space *space, uint64_t address, uint32_t *flags);

/* Drop users' translations on this CPU, which has the tables loaded. */
static inline void arch_tlb_flush_page(uint64_t address);
static inline void arch_tlb_flush_all(void);

/* Kernel mappings outside the direct map: the trace rings. Mapped for users at USER_TRACE_RINGS and for
 * the kernel at ARCH_TRACE_RINGS, at the same offset, readable and writable, in all existing and future
 * spaces. They are never unmapped, so no translation ever becomes stale. 0 or -E_NO_MEMORY. */
int arch_trace_map(uint64_t offset, paddr_t frame);
/* Maps device registers for the kernel, uncached. */
void *arch_map_device(paddr_t address, uint64_t size);

#include <port/mmu.h>
