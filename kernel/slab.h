/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/slab.h - caches of kernel objects of one size.
 *
 * Memory of a slab never serves another type (type-stable): a pointer to a freed object still points to an
 * object of that type, free or reused. Capability look-up relies on it (cap.h): look up, lock, look again.
 * The lock inside an object is initialised once, by `construct`, when the slab takes its frame, and survives
 * free and reuse.
 */
#ifndef KERNEL_SLAB_H
#define KERNEL_SLAB_H

#include <kernel/lock.h>
#include <stddef.h>
#include <tarn/abi.h>

struct slab {
    const char *name;
    uint32_t size;                   /* of an object; at most 4096 bytes */
    void (*construct)(void *object); /* once per memory, on zeroed bytes; may be NULL */
    struct spinlock lock;
    /* under lock */
    void *free; /* list through a word that slab.c places behind each object */
    uint64_t live, frames;
    void *newest;       /* frame; the last word of each leads to the one before */
    struct slab *other; /* the next of all slabs that have frames */
};
#define SLAB(slab_name, type, constructor, lock_class)                                                  \
    {                                                                                                   \
        .name = slab_name, .size = sizeof(type), .construct = constructor, .lock = SPINLOCK(lock_class) \
    }

void *slab_alloc(struct slab *slab); /* contents as the last user left them; NULL: no memory */
void slab_free(struct slab *slab, void *object);
uint64_t slab_live(const struct slab *slab);
uint64_t slab_frames_total(void); /* of all slabs */

/* Without locks, for the debugger, while all processors stand: all slabs, the frames of one, and what a frame
 * holds. Free objects are among them, as their last user left them. NULL as previous: the first; NULL as
 * result: no more. */
const struct slab *slab_next_unlocked(const struct slab *previous);
void *slab_next_frame_unlocked(const struct slab *slab, void *previous);
uint32_t slab_objects_in_frame(const struct slab *slab);
void *slab_object(const struct slab *slab, void *frame, uint32_t index);

#endif
