/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * image.h - reads a trace from guest memory: finds the store and reads its rings.
 *
 * The counterpart of trace/ring/read.h for memory read from outside, with the same rules
 * (trace/ring/read_rules.h). But the memory may have the other byte order, may be a dump (which never
 * changes, so there is nothing to wait for), and may contain anything: every address, size and count is
 * checked before use. image.c finds and checks the store, image_ring.c reads packets, image_source.c turns it
 * into a `struct source`.
 */
#ifndef TARN_IMAGE_H
#define TARN_IMAGE_H

#include <tools/tarn/source/memory.h>
#include <trace/format/store.h>
#include <trace/ring/read.h>

struct image {
    struct memory *memory;
    bool swap;                /* not in host byte order */
    struct trace_store store; /* in host byte order, checked; without extents */
    struct trace_extent *extents;
    uint64_t info;     /* physical address of the info page that belongs to this store; 0: none */
    uint64_t geometry; /* `geometry` of the info page when the store was read; see layout.h */
    bool broken;       /* existing memory could not be read; `fail` says why */
    struct fail fail;
};

/* Searches MEMORY, which remains the caller's, for the store of age AGE. False: FAIL. */
bool image_open(struct image *image, struct memory *memory, uint32_t age, struct fail *fail);
void image_close(struct image *image);
/* Whether the rings are written while they are read. Rings from before a reset are not. */
static inline bool image_is_live(const struct image *image)
{
    return image->memory->live && image->store.age == 0;
}
/*
 * Checks live memory for changes.
 *
 *     - GROWN: open the rings again; there may be more metadata.
 *     - ENDED: the system that wrote this panicked, shut down or rebooted; the rings still have its packets.
 *     - CHANGED: rings were cleared or resized; packets from before and after do not belong together.
 */
enum image_change { IMAGE_SAME, IMAGE_GROWN, IMAGE_ENDED, IMAGE_CHANGED };
enum image_change image_look(struct image *image);
/* Returns the metadata, which the caller frees; NULL: none yet, or invalid. */
char *image_metadata(struct image *image, size_t *size);
/* Live memory: whether the rings were cleared or resized since the store was read. If not, everything copied
 * before the call is valid. */
bool image_is_changed(struct image *image);
/* 0: no info page. */
uint64_t image_info64(struct image *image, size_t offset);

static inline uint32_t image_32(const struct image *image, uint32_t value)
{
    return image->swap ? __builtin_bswap32(value) : value;
}

static inline uint64_t image_64(const struct image *image, uint64_t value)
{
    return image->swap ? __builtin_bswap64(value) : value;
}

/* ---- rings ----------------------------------------------------------------------------------------- */

struct image_ring {
    struct image *image;
    uint32_t cpu;
    uint64_t index;     /* the last plausible one; if memory is not live, the only one */
    bool index_is_good; /* the control page has an index that leads to a packet */
    /* `index` was derived from packet headers, because the control page's is wrong */
    bool index_is_guessed;
    const struct trace_extent *extents; /* of the control page and the buffers */
    size_t extent_count;
};

/* False: FAIL says what is missing. Call it again when the store has grown. */
bool image_ring_open(struct image_ring *ring, struct image *image, uint32_t cpu, struct fail *fail);
/* Returns the place (memory_range) of byte OFFSET of the ring's control page or buffers. */
uint64_t image_ring_place(const struct image_ring *ring, uint64_t offset);
/* Returns the number of the packet being written; for a full ring, of the next one once there is space. */
uint64_t image_ring_head(struct image_ring *ring);
/* Whether the index says that packet HEAD, which is being written, has events. */
bool image_ring_has_open(struct image_ring *ring, uint64_t head);
/* If it has: whether a writer has finished one. Otherwise nothing has been logged there. */
bool image_ring_has_logged(struct image_ring *ring, uint64_t head);
/* Returns the number of the oldest packet that was not overwritten. */
uint64_t image_ring_oldest(struct image_ring *ring);
/* Returns the number of the oldest packet that may still be there, even if it was consumed. */
uint64_t image_ring_tail(struct image_ring *ring);
uint64_t image_ring_discarded(struct image_ring *ring);
uint64_t image_ring_torn(struct image_ring *ring);
/* Whether a packet lies where `index` says. */
bool image_ring_has_packet(struct image_ring *ring);

/* Returns a field of a packet's copy: OFFSET in struct trace_packet. */
static inline uint32_t image_packet_32(const struct image *image, const void *copy, size_t offset)
{
    return image_32(image, *(const uint32_t *)((const char *)copy + offset));
}

static inline uint64_t image_packet_64(const struct image *image, const void *copy, size_t offset)
{
    return image_64(image, *(const uint64_t *)((const char *)copy + offset));
}

/* Copy a packet, a whole buffer in the guest's byte order; see trace_packet_copy, trace_packet_cut,
 * trace_packet_snapshot and, for memory that is not live, trace_packet_salvage in trace/ring/read.h. */
enum trace_packet_state image_packet_copy(struct image_ring *ring, uint64_t number, void *copy);
bool image_packet_cut(struct image_ring *ring, uint64_t number, void *copy);
bool image_packet_snapshot(struct image_ring *ring, uint64_t *number, void *copy);

#endif
