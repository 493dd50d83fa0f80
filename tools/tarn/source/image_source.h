/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/source/image_source.h - what the sources that read a guest's memory are made of: image_open.c
 * opens them, image_source.c pulls through them.
 */
#ifndef TARN_IMAGE_SOURCE_H
#define TARN_IMAGE_SOURCE_H

#include <tools/tarn/source/image.h>
#include <tools/tarn/source/source.h>

/* One processor's ring on its way out. */
struct drain {
    struct image_ring ring;
    uint64_t next;        /* packet to be read */
    uint64_t sent_end;    /* behind the last that got out */
    uint64_t count_from;  /* what is missing before it was lost before the pull began */
    uint64_t lost, cut;   /* packets */
    double waiting_since; /* that `next` is incomplete; 0: it is not */
    uint64_t waiting_for; /* head of that moment: one wait counts for all that were closed then */
    uint64_t given_up;    /* packets before this one had their time */
    uint64_t target;      /* packets before this one are wanted; valid while finishing */
    bool done;
    uint64_t end; /* of the pull's packets; valid when done */
};

struct image_source {
    struct source source; /* first: a source is cast to this */
    struct memory *memory;
    struct image image;
    char *metadata;
    size_t metadata_size;
    bool metadata_sent;
    bool counts_sent;   /* the final ones */
    uint32_t finishing; /* enum wire_end_reason, 0: not yet */
    bool dangling;      /* rings are not those that the store names: read no more */
    double status_at, look_at;
    uint32_t turn; /* processor */
    uint8_t *copy; /* one buffer */
    struct wire_packet held;
    size_t held_size; /* of the packet in `copy` that is to be handed out; 0: there is none */
    uint8_t statistics[WIRE_HELLO_BYTES + 8 + WIRE_CPUS_MAX * WIRE_CPU_STATUS_BYTES + 8 * WIRE_CLASSES];
    struct drain drain[WIRE_CPUS_MAX];
};

/* Opens the trace of the running or the last system. Tries until `wait_seconds` have passed. NULL: fail. */
struct source *open_image(const struct source_class *class, const struct memory_class *memory,
                          const char *address, double wait_seconds, struct fail *fail);
void image_source_close(struct source *source);
/* From here on it is the trace of the system before. False: fail; then only closing is left. */
bool image_turn_to_previous(struct image_source *image, struct fail *fail);
/* Again after the rings or the metadata have grown. False: fail. */
bool image_open_rings(struct image_source *image, struct fail *fail);
bool image_read_metadata(struct image_source *image, struct fail *fail);

#endif
