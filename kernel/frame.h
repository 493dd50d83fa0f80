/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frame.h - page frames: a cache per CPU in front of a buddy allocator.
 *
 * frame_alloc and frame_free of one frame use only this CPU's cache. They need no lock, because the kernel
 * is not preempted, except to refill or drain half of the cache. Larger blocks come from the buddy
 * allocator under its lock. While free frames are scarce the caches are not used, and the last frames are
 * reserved for the system (scarce.h). Frames are not zeroed unless asked. Contiguous blocks are powers of
 * two, naturally aligned.
 */
#ifndef KERNEL_FRAME_H
#define KERNEL_FRAME_H

#include <arch/mmu.h>
#include <stdbool.h>

#define FRAME_SIZE      4096ull
#define FRAME_ORDER_MAX 15 /* 128 MiB */
#define FRAME_NONE      (~0ull)

/* Reports range `index` of RAM, in whole frames, that is in use though not reserved at boot. False: no more
 * ranges. */
typedef bool frame_kept_range(uint32_t index, paddr_t *base, uint64_t *size);
void frame_allocator_init(frame_kept_range *kept); /* from boot_info; on the boot CPU */
paddr_t frame_alloc(void);                         /* FRAME_NONE if there is none */
paddr_t frame_alloc_zeroed(void);
void frame_free(paddr_t frame);
paddr_t frame_alloc_order(unsigned order);
void frame_free_order(paddr_t frame, unsigned order);
/* Allocates `count` adjacent frames, to be freed one by one: the first such run at or above `from`, else
 * the first one anywhere. FRAME_NONE if there is none. Slow: it may read every frame's state. */
paddr_t frame_alloc_run(uint64_t count, paddr_t from);
/* Returns whether `count` frames would leave enough for ordinary programs. For servers, which must learn
 * that memory is short when they allocate it, not when they touch it. A hint: others may take frames at any
 * time. */
bool frame_has_room(uint64_t count);
bool frame_is_low(void); /* ordinary programs get no frames now; also a hint */
uint64_t frame_count_total(void);
uint64_t frame_count_free(void); /* includes cached frames; exact only when nothing else runs */

#endif
