/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/frame.h - page frames: a cache per processor before a buddy allocator.
 *
 * frame_alloc and frame_free of one frame touch only this processor's cache (no lock: the kernel is not
 * preempted) but for a refill or a drain of half of it. Bigger blocks come from the buddy allocator under its
 * lock. While free frames are scarce the caches stand still, and the last are for the system (scarce.h).
 * Frames are not zeroed unless asked. Contiguous blocks are powers of two, naturally aligned.
 */
#ifndef KERNEL_FRAME_H
#define KERNEL_FRAME_H

#include <arch/mmu.h>
#include <stdbool.h>

#define FRAME_SIZE      4096ull
#define FRAME_ORDER_MAX 15 /* 128 MiB */
#define FRAME_NONE      (~0ull)

/* Range `index` of RAM, whole frames, that is in use though nobody reserved it at boot; false: no more. */
typedef bool frame_kept_range(uint32_t index, paddr_t *base, uint64_t *size);
void frame_allocator_init(frame_kept_range *kept); /* from boot_info; boot processor */
paddr_t frame_alloc(void);                         /* FRAME_NONE when there is none */
paddr_t frame_alloc_zeroed(void);
void frame_free(paddr_t frame);
paddr_t frame_alloc_order(unsigned order);
void frame_free_order(paddr_t frame, unsigned order);
/* `count` frames in a row, which are freed one by one: the first that are free at or above `from`, else the
 * first of all. Looks at every frame: not for every day. FRAME_NONE: there are not so many in a row. */
paddr_t frame_alloc_run(uint64_t count, paddr_t from);
/* Would `count` frames leave enough for ordinary programs? For the system, which must learn that memory is
 * short when it asks for memory, not when it touches it. A hint: others may take frames at any time. */
bool frame_has_room(uint64_t count);
bool frame_is_low(void); /* ordinary programs get none. A hint, too */
uint64_t frame_count_total(void);
uint64_t frame_count_free(void); /* the caches' frames included; exact only when nothing else runs */

#endif
