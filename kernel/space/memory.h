/*
 * memory.h - memory objects: page frames that can be mapped in many spaces.
 *
 * An object owns its frames until its last reference (capability or mapping) is dropped. Kinds: demand
 * zero, paged by a server, device memory, contiguous.
 */
#pragma once

#include <kernel/cpu/lock.h>
#include <kernel/memory/frame.h>
#include <stdatomic.h>

/* Same numbers as in trace/schema/mem.ev. */
enum memory_kind { MEMORY_ZERO, MEMORY_PAGED, MEMORY_DEVICE, MEMORY_CONTIGUOUS };
#define MEMORY_SIZE_MAX (1ull << 39)

struct endpoint;
struct program_sites;
struct memory {
    struct spinlock lock;
    _Atomic uint32_t references; /* capabilities, mappings, and kernel code that uses it */
    uint32_t number;             /* in the trace */
    enum memory_kind kind;       /* constant */
    paddr_t base;                /* device, contiguous: constant */
    struct endpoint *pager;      /* paged: a reference; constant */
    /* under lock: */
    uint64_t size; /* bytes, whole pages */
    uint64_t frames;
    uint64_t mapped_end; /* highest byte offset + 1 that a mapping may reach; it cannot shrink below */
    uint32_t mappings;
    uint32_t writers, executors; /* mappings with these `uses`: no page of the object is ever both */
    uint32_t depth;              /* levels of the frame table */
    paddr_t table;               /* root of the radix tree, 512 entries per table; 0: none (memory.c) */
    /* Trace points in it, or NULL: it keeps its frames then. Also under sites_lock (kernel/trace/sites.c). */
    struct program_sites *sites;
    /* Called at the end, with the frames still there and no lock held. */
    void (*forget_sites)(struct program_sites *sites);
    bool sites_agree; /* they match mask and switches, until the object ends */
};

struct memory *memory_new(enum memory_kind kind, uint64_t size); /* one reference; NULL: no memory */
/* Device memory, or frames that the object takes over. */
struct memory *memory_new_at(enum memory_kind kind, paddr_t base, uint64_t size);
static inline void memory_get(struct memory *memory)
{
    atomic_fetch_add_explicit(&memory->references, 1, memory_order_relaxed);
}
void memory_put(struct memory *memory); /* drops a reference; the last one frees the object */

/* The frame at a page offset. `create`: a missing one is zero-filled (MEMORY_ZERO). FRAME_NONE: none, or no
 * memory. Lock held. */
paddr_t memory_frame(struct memory *memory, uint64_t offset, bool create);
/* The same: takes the lock, and creates none. */
static inline paddr_t memory_peek(struct memory *memory, uint64_t offset)
{
    spin_lock(&memory->lock);
    const paddr_t frame = memory_frame(memory, offset, false);
    spin_unlock(&memory->lock);
    return frame;
}
/* The frames of `count` pages from an offset on; FRAME_NONE: none. Allocates none. Lock held. */
void memory_frames(struct memory *memory, uint64_t offset, uint32_t count, paddr_t *frames);
/* Inserts a missing frame (pagers). -E_EXISTS, -E_NO_MEMORY. Lock held. */
int memory_insert(struct memory *memory, uint64_t offset, paddr_t frame);
/* Frees the pages in [offset, end), which must be unreachable; returns how many frames. */
uint64_t memory_free_range(struct memory *memory, uint64_t offset, uint64_t end);
/* Copies between a kernel buffer and the object, up to its size; allocates frames as needed. Bytes, or
 * -E_*. */
enum memory_direction { MEMORY_OUT, MEMORY_IN };
int64_t memory_copy(struct memory *memory, uint64_t offset, void *buffer, uint64_t size,
                    enum memory_direction direction);
