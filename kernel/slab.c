/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/slab.c - caches of kernel objects (after Bonwick, USENIX 1994: constructed state survives a free).
 *
 * A slab takes whole frames, cuts them into objects and never gives them back, which is what makes its memory
 * type-stable. The free list runs through a word behind each object, so a free object keeps its contents.
 * Frames are linked through their last words, so that the debugger finds all objects there are.
 */
#include <kernel/frame.h>
#include <kernel/kernel.h>
#include <kernel/slab.h>
#include <trace/mem.h>

static _Atomic uint64_t frames_total;
static struct slab *_Atomic all_slabs; /* that have frames; they stay */

static uint64_t stride_of(const struct slab *slab)
{
    return (slab->size + sizeof(void *) + 15) & ~15ull;
}

static void **link_of(const struct slab *slab, void *object)
{
    return (void **)((char *)object + stride_of(slab) - sizeof(void *));
}

static void **frame_link(void *frame)
{
    return (void **)((char *)frame + FRAME_SIZE - sizeof(void *));
}

uint32_t slab_objects_in_frame(const struct slab *slab)
{
    return (uint32_t)((FRAME_SIZE - sizeof(void *)) / stride_of(slab));
}

void *slab_object(const struct slab *slab, void *frame, uint32_t index)
{
    return (char *)frame + index * stride_of(slab);
}

/* Whoever finds the frame finds what is in it. Lock held. */
static void add_frame(struct slab *slab, void *frame)
{
    *frame_link(frame) = slab->newest;
    __atomic_store_n(&slab->newest, frame, __ATOMIC_RELEASE);
    if (slab->frames++)
        return;
    slab->other = all_slabs;
    while (!atomic_compare_exchange_weak(&all_slabs, &slab->other, slab))
        ;
}

/* Takes one frame more. Lock held. */
static bool grow(struct slab *slab)
{
    const uint32_t objects = slab_objects_in_frame(slab);
    assert(objects > 0);
    paddr_t frame = frame_alloc_zeroed();
    if (frame == FRAME_NONE)
        return false;
    char *memory = phys_to_virt(frame);
    for (uint32_t i = 0; i < objects; i++) {
        void *object = slab_object(slab, memory, i);
        if (slab->construct)
            slab->construct(object);
        *link_of(slab, object) = slab->free;
        slab->free = object;
    }
    add_frame(slab, memory);
    atomic_fetch_add_explicit(&frames_total, 1, memory_order_relaxed);
    char name[TARN_NAME_BYTES] = {0};
    memcpy(name, slab->name, strlen(slab->name) < sizeof name ? strlen(slab->name) : sizeof name - 1);
    trace_mem_slab_grow(name, slab->frames);
    return true;
}

void *slab_alloc(struct slab *slab)
{
    void *object = NULL;
    spin_lock(&slab->lock);
    if (slab->free || grow(slab)) {
        object = slab->free;
        slab->free = *link_of(slab, object);
        slab->live++;
    }
    spin_unlock(&slab->lock);
    return object;
}

void slab_free(struct slab *slab, void *object)
{
    spin_lock(&slab->lock);
    *link_of(slab, object) = slab->free;
    slab->free = object;
    slab->live--;
    spin_unlock(&slab->lock);
}

uint64_t slab_live(const struct slab *slab)
{
    return __atomic_load_n(&slab->live, __ATOMIC_RELAXED);
}

const struct slab *slab_next_unlocked(const struct slab *previous)
{
    return previous ? previous->other : all_slabs;
}

void *slab_next_frame_unlocked(const struct slab *slab, void *previous)
{
    return previous ? *frame_link(previous) : slab->newest;
}

uint64_t slab_frames_total(void)
{
    return atomic_load_explicit(&frames_total, memory_order_relaxed);
}
