/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * executables.h - which executables are mapped where in each process.
 *
 * Learned from state_image: one event for each mapped executable, at the start of a process and in a
 * statedump. The latest event for an address counts. Process 0 is the kernel, which is mapped in every
 * process. Beyond the limits nothing is learned.
 */
#ifndef TARN_IMAGES_H
#define TARN_IMAGES_H

#include <tools/tarn/map.h>
#include <tools/tarn/read/decode.h>

#define IMAGES_MAX        65536u
#define IMAGES_OF_ONE_MAX 64u /* per process */
#define IMAGE_PATH_BYTES  256u

struct image {
    uint32_t pid;
    uint64_t base, size;  /* bytes */
    uint8_t build_id[16]; /* its first bytes; zeros: unknown */
    char *path;
    const struct image *next;  /* of the same process, newest first */
    const struct image *later; /* of all processes, in the order of arrival */
};

struct images {
    struct map newest_of; /* of const struct image *, by pid */
    uint32_t count;
    /* of all processes; `saved`: the newest that model_save_snapshot has saved */
    struct image *oldest, *newest, *saved;
    struct arena arena;
};

void images_open(struct images *images);
void images_close(struct images *images);
/* Copies IMAGE; its `path` and `next` are ignored. */
void images_add(struct images *images, const struct image *image, const char *path, size_t length);
/* Returns the executable at an address of a process or of the kernel; NULL: unknown. */
const struct image *images_find(const struct images *images, uint32_t pid, uint64_t address);
/* Returns the newest executable of a process, first of a list linked by `next`; NULL: none. */
const struct image *images_of(const struct images *images, uint32_t pid);

/* Returns the oldest that is newer than `saved`, first of a list linked by `later`. */
static inline const struct image *images_news(const struct images *images)
{
    return images->saved != NULL ? images->saved->later : images->oldest;
}

#endif
