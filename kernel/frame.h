/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/frame.h - page frames: a cache per processor before a buddy allocator.
 *
 * frame_alloc and frame_free of one frame touch only this processor's cache (no lock: the kernel is not
 * preempted) but for a refill or a drain of half of it. Bigger blocks come from the buddy allocator under its
 * lock. Frames are not zeroed unless asked. Contiguous blocks are powers of two, naturally aligned.
 */
#ifndef KERNEL_FRAME_H
#define KERNEL_FRAME_H

#include <arch/mmu.h>

#define FRAME_SIZE      4096ull
#define FRAME_ORDER_MAX 15 /* 128 MiB */
#define FRAME_NONE      (~0ull)

void frame_allocator_init(void); /* from boot_info; boot processor */
paddr_t frame_alloc(void);       /* FRAME_NONE when there is none */
paddr_t frame_alloc_zeroed(void);
void frame_free(paddr_t frame);
paddr_t frame_alloc_order(unsigned order);
void frame_free_order(paddr_t frame, unsigned order);
uint64_t frame_count_total(void);
uint64_t frame_count_free(void); /* the caches' frames included; exact only when nothing else runs */

#endif
