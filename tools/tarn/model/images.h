/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/model/images.h - which program files lie where in the memory of each process.
 *
 * Learned from state_image: one event for each mapped program, at the start of a process and in a statedump.
 * What was said last of an address counts. Process 0 is the kernel, which is in every process. Bounded:
 * beyond that nothing is learned.
 */
#ifndef TARN_IMAGES_H
#define TARN_IMAGES_H

#include <tools/tarn/read/decode.h>

#define IMAGES_MAX        65536u
#define IMAGES_OF_ONE_MAX 64u /* process */
#define IMAGE_PATH_BYTES  256u

struct image {
    uint32_t pid;
    uint64_t base, size;  /* bytes */
    uint8_t build_id[16]; /* its first bytes; zeros: not known */
    char *path;
    const struct image *next;  /* of the same process; the newest first */
    const struct image *later; /* of all, the one that was added then */
};

struct images {
    const struct image **table; /* by a hash of the pid: each process's newest, open addressing */
    uint32_t room, process_count, count;
    struct image *oldest, *newest, *saved; /* of all; the newest that model_save_knowledge has seen */
    struct arena arena;
};

void images_open(struct images *images);
void images_close(struct images *images);
/* IMAGE without path and next. */
void images_add(struct images *images, const struct image *image, const char *path, size_t length);
/* The image at an address of a process, or the kernel's; NULL: none is known. */
const struct image *images_find(const struct images *images, uint32_t pid, uint64_t address);
/* The newest of a process's images; go on with `next`. NULL: none. */
const struct image *images_of(const struct images *images, uint32_t pid);

/* The oldest that is newer than `saved`; go on with `later`. */
static inline const struct image *images_news(const struct images *images)
{
    return images->saved != NULL ? images->saved->later : images->oldest;
}

#endif
