/*
 * slab.h - caches of kernel objects of one size.
 *
 * Memory is type-stable for one kernel entry: a pointer to a freed object points to an object of that type,
 * free or reused, until all CPUs have been outside the kernel (quiescent.h). Lookups without a lock rely on
 * this (cap_table.h): look up, lock, check again. To keep a pointer longer, take a reference. A frame whose
 * objects have all been free for that long is given back; each slab keeps one.
 *
 * The lock in an object is initialized once, by `construct`, when the slab gets the frame. It survives free
 * and reuse.
 */
#pragma once

#include <kernel/cpu/lock.h>
#include <kernel/lib/list.h>
#include <stddef.h>
#include <tarn/abi.h>

struct slab {
    const char *name;
    uint32_t size;                   /* of an object; slab_objects_in_frame says how many fit */
    void (*construct)(void *object); /* once per memory, on zeroed bytes; may be NULL */
    struct spinlock lock;
    /* under lock: */
    uint64_t live, frames;
    uint64_t empty_count;
    struct list all, partial,
        empty;          /* page frames: all; with free and live objects; the empty ones, oldest first */
    struct slab *other; /* the next slab that has had page frames */
    bool known;         /* is in that list, and its own lists are initialized */
};
#define SLAB(slab_name, type, constructor, lock_class)                                                  \
    {                                                                                                   \
        .name = slab_name, .size = sizeof(type), .construct = constructor, .lock = SPINLOCK(lock_class) \
    }

void *slab_alloc(struct slab *slab); /* contents as the last user left them; NULL: no memory */
void slab_free(struct slab *slab, void *object);
struct slab *slab_named(const char *name); /* NULL: it has had no page frames */
uint64_t slab_count(const char *name);     /* live objects of that slab */
uint64_t slab_frames_total(void);          /* of all slabs */
/* Gives back at most `most` frames that no CPU can reach; returns how many. Skips slabs whose lock is held,
 * so any locks may be held. */
uint32_t slab_reclaim(uint32_t most);
uint64_t slab_count_empty(void); /* page frames that will be given back at some time */

/* For the debugger, without locks, while all CPUs are stopped: a slab's frames, a frame's objects (free ones
 * included, as last left). NULL as `previous`: the first; NULL as result: no more. */
void *slab_next_frame_unlocked(const struct slab *slab, void *previous);
uint32_t slab_objects_in_frame(const struct slab *slab);
void *slab_object(const struct slab *slab, void *frame, uint32_t index);
