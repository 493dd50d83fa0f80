/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/source/image.h - the trace in a guest's memory: finds the store, reads the rings that it names.
 *
 * This is to memory.h what trace/ring/read.h is to a mapped window: the same states, the same order of
 * looks, the same cut; but memory may be of the other byte order, may be a dump that was taken at any moment
 * (then nothing changes, and nothing is waited for), and may be anything at all: every address, size and
 * count is checked before it is used. image.c finds and checks the store, image_ring.c reads packets,
 * image_source.c makes a `struct source` of it.
 */
#ifndef TARN_IMAGE_H
#define TARN_IMAGE_H

#include <tools/tarn/source/memory.h>
#include <trace/format/store.h>

struct image {
    struct memory *memory;
    bool swap;                /* its byte order is not ours */
    struct trace_store store; /* in our byte order, checked; without extents */
    struct trace_extent *extents;
    uint64_t info;     /* physical address of an info page that belongs to this store, or 0 */
    uint64_t geometry; /* its word of that name, when the store was read: see layout.h */
    bool broken;       /* memory could not be read although it is there; `fail` says why */
    struct fail fail;
};

/* Looks for the store of age `age` in all of memory. The memory stays the caller's. False: fail. */
bool image_open(struct image *image, struct memory *memory, uint32_t age, struct fail *fail);
void image_close(struct image *image);
/* Does anybody write the rings while they are read? Not those of the system before a reset. */
static inline bool image_is_live(const struct image *image)
{
    return image->memory->live && image->store.age == 0;
}
/* Live memory: looks whether the guest changed something. GROWN: rings must be opened again, there may be
 * more metadata. ENDED: the system that wrote this panicked, was shut down or started again; what is in the
 * rings is still its. CHANGED: rings were cleared or changed; packets before and after do not belong
 * together. */
enum image_change { IMAGE_SAME, IMAGE_GROWN, IMAGE_ENDED, IMAGE_CHANGED };
enum image_change image_look(struct image *image);
/* The metadata; NULL: the guest has made none yet, or it is none. To be freed. */
char *image_metadata(struct image *image, size_t *size);
/* Live memory: were the rings cleared or resized since the store was read? What was copied before the call is
 * as old as its answer. */
bool image_is_changed(struct image *image);
/* A word of the info page; 0 if there is no info page. */
uint64_t image_info64(struct image *image, size_t offset);

static inline uint32_t image_32(const struct image *image, uint32_t value)
{
    return image->swap ? __builtin_bswap32(value) : value;
}

static inline uint64_t image_64(const struct image *image, uint64_t value)
{
    return image->swap ? __builtin_bswap64(value) : value;
}

/* ---- rings ------------------------------------------------------------------------------------------ */

enum image_state {
    IMAGE_WHOLE,      /* closed, every word committed */
    IMAGE_OPEN,       /* writers are in it, or it does not exist yet */
    IMAGE_INCOMPLETE, /* closed, but a writer has not committed: not yet, or he never will */
    IMAGE_GONE,       /* overwritten, or its header is no packet's */
};

struct image_ring {
    struct image *image;
    uint32_t cpu;
    uint64_t newest, head;              /* of an image that stands still, and the last plausible ones else */
    bool index_is_good;                 /* they are what the index says */
    bool head_is_guessed;               /* it is not, and the headers were asked */
    const struct trace_extent *extents; /* of the window */
    size_t extent_count;
};

/* False: fail says what is missing of the ring. Call again when the image has grown. */
bool image_ring_open(struct image_ring *ring, struct image *image, uint32_t cpu, struct fail *fail);
/* The place (memory_range) of a byte that the window has, of control page or buffers. */
uint64_t image_ring_place(const struct image_ring *ring, uint64_t offset);
/* Number of the packet that is being written; of a full ring, that will be once there is room. */
uint64_t image_ring_head(struct image_ring *ring);
/* Does the index say that there are events in packet HEAD, which is being written? */
bool image_ring_has_open(struct image_ring *ring, uint64_t head);
/* If so: has any writer got to the end of one? Else nothing was logged there yet. */
bool image_ring_has_logged(struct image_ring *ring, uint64_t head);
/* Number of the oldest packet that was not overwritten. */
uint64_t image_ring_oldest(struct image_ring *ring);
/* Number of the oldest packet that may still be there. */
uint64_t image_ring_tail(struct image_ring *ring);
uint64_t image_ring_discarded(struct image_ring *ring);
uint64_t image_ring_torn(struct image_ring *ring);
/* Does a buffer hold the header of this packet now? */
bool image_ring_holds(struct image_ring *ring, uint64_t number);

/* These copy a packet, a whole buffer in the guest's byte order; see trace_packet_copy, trace_packet_cut,
 * trace_packet_snapshot in trace/ring/read.h. */
enum image_state image_packet_copy(struct image_ring *ring, uint64_t number, uint8_t *copy);
bool image_packet_cut(struct image_ring *ring, uint64_t number, uint8_t *copy);
bool image_packet_snapshot(struct image_ring *ring, uint64_t *number, uint8_t *copy);

#endif
