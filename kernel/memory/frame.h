/*
 * frame.h - page frames: a cache per CPU in front of a buddy allocator.
 *
 * frame_alloc and frame_free of one frame need no lock, because they use this CPU's cache and the kernel is
 * not preempted; they lock only to refill or drain half of it. Larger blocks come from the buddy allocator
 * under its lock. While free frames are scarce the caches are not used, and the last frames are for the
 * system (scarce.c). Frames are not zeroed unless asked. Contiguous blocks are powers of two, naturally
 * aligned.
 */
#pragma once

#include <arch/mmu.h>
#include <kernel/hook.h>
#include <stdbool.h>

#define FRAME_SIZE      4096ull
#define FRAME_ORDER_MAX 15 /* 128 MiB */
#define FRAME_NONE      (~0ull)

/* Range `index` of RAM, in whole frames, that is in use though not reserved at boot; false: no more. */
typedef bool frame_kept_range(uint32_t index, paddr_t *base, uint64_t *size);
void frame_allocator_init(frame_kept_range *kept); /* from boot_info; on the boot CPU */
paddr_t frame_alloc(void);                         /* FRAME_NONE if there is none */
paddr_t frame_alloc_zeroed(void);
void frame_free(paddr_t frame);
paddr_t frame_alloc_order(unsigned order);
void frame_free_order(paddr_t frame, unsigned order);
void frame_free_run(paddr_t frame, uint64_t count); /* adjacent frames, however they were allocated */
/* Allocates `count` adjacent frames: the first such run at or above `from`, else
 * the first anywhere. FRAME_NONE: none. Slow: may read every frame's state. */
paddr_t frame_alloc_run(uint64_t count, paddr_t from);
/* Would `count` frames leave enough for ordinary programs? For servers, which must learn that memory is
 * short when they allocate it, not when they touch it. A hint: others may take frames at any time. */
bool frame_leaves_enough(uint64_t count);
/* sched/thread.c: the system requests memory, not an ordinary program. */
HOOK(frame_is_for_system, bool, void);
bool frame_is_low(void);            /* ordinary programs get no frames now; also a hint */
bool frame_is_ram(paddr_t address); /* in use or free */
uint64_t frame_count_total(void);
uint64_t frame_count_free(void); /* cached ones included; exact only when nothing else runs */
