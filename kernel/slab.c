/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/slab.c - caches of kernel objects (after Bonwick, USENIX 1994: constructed state survives a free).
 *
 * A slab takes whole frames, cuts them into objects and never gives them back, which is what makes its memory
 * type-stable. The free list runs through a word behind each object, so a free object keeps its contents.
 */
#include <kernel/frame.h>
#include <kernel/kernel.h>
#include <kernel/slab.h>
#include <trace/mem.h>

static _Atomic uint64_t frames_total;

static uint64_t stride_of(const struct slab *slab)
{
    return (slab->size + sizeof(void *) + 15) & ~15ull;
}

static void **link_of(const struct slab *slab, void *object)
{
    return (void **)((char *)object + stride_of(slab) - sizeof(void *));
}

/* Takes one frame more. Lock held. */
static bool grow(struct slab *slab)
{
    uint64_t stride = stride_of(slab);
    assert(stride <= FRAME_SIZE);
    paddr_t frame = frame_alloc_zeroed();
    if (frame == FRAME_NONE)
        return false;
    char *memory = phys_to_virt(frame);
    for (uint64_t offset = 0; offset + stride <= FRAME_SIZE; offset += stride) {
        void *object = memory + offset;
        if (slab->construct)
            slab->construct(object);
        *link_of(slab, object) = slab->free;
        slab->free = object;
    }
    slab->frames++;
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

uint64_t slab_frames_total(void)
{
    return atomic_load_explicit(&frames_total, memory_order_relaxed);
}
