/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/slab.h - caches of kernel objects of one size.
 *
 * A pointer to a freed object points to an object of that type, free or reused, until all processors have
 * been outside the kernel (type-stable for one kernel entry, quiet.h): look-ups without a lock rely on it
 * (cap.h): look up, lock, look again. Keeping a pointer longer takes a reference. A frame whose objects
 * have all been free for that long is given back; each slab keeps one.
 *
 * The lock inside an object is initialised once, by `construct`, when the slab takes its frame, and survives
 * free and reuse.
 */
#ifndef KERNEL_SLAB_H
#define KERNEL_SLAB_H

#include <kernel/list.h>
#include <kernel/lock.h>
#include <stddef.h>
#include <tarn/abi.h>

struct slab {
    const char *name;
    uint32_t size;                   /* of an object; slab_objects_in_frame says how many fit */
    void (*construct)(void *object); /* once per memory, on zeroed bytes; may be NULL */
    struct spinlock lock;
    /* under lock */
    uint64_t live, frames;
    uint64_t empty_count;
    struct list all, partial, empty; /* frames: all; with free and live objects; the empty, oldest first */
    struct slab *other;              /* the next of all slabs that have had frames */
    bool known;                      /* is among them, and its lists are initialised */
};
#define SLAB(slab_name, type, constructor, lock_class)                                                  \
    {                                                                                                   \
        .name = slab_name, .size = sizeof(type), .construct = constructor, .lock = SPINLOCK(lock_class) \
    }

void *slab_alloc(struct slab *slab); /* contents as the last user left them; NULL: no memory */
void slab_free(struct slab *slab, void *object);
uint64_t slab_live(const struct slab *slab);
uint64_t slab_frames_total(void); /* of all slabs */
/* Gives back frames that nobody can reach any more, at most `most`; how many. Slabs whose lock is held are
 * left out, so any locks may be held. */
uint32_t slab_reclaim(uint32_t most);
uint64_t slab_count_empty(void); /* frames that will be given back, sooner or later */

/* Without locks, for the debugger, while all processors stand: all slabs, the frames of one, and what a frame
 * holds. Free objects are among them, as their last user left them. NULL as previous: the first; NULL as
 * result: no more. */
const struct slab *slab_next_unlocked(const struct slab *previous);
void *slab_next_frame_unlocked(const struct slab *slab, void *previous);
uint32_t slab_objects_in_frame(const struct slab *slab);
void *slab_object(const struct slab *slab, void *frame, uint32_t index);

#endif
