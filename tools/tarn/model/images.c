/* SPDX-License-Identifier: BSD-2-Clause */
/* images.c - which executables are mapped where; see images.h. */
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/model/images.h>

void images_open(struct images *images)
{
    memset(images, 0, sizeof(*images));
    images->room = 64;
    images->table = alloc_zero(images->room, sizeof(images->table[0]));
}

void images_close(struct images *images)
{
    free(images->table);
    arena_free(&images->arena);
    memset(images, 0, sizeof(*images));
}

/* Returns PID's place, or a free one. */
static const struct image **find_place(const struct images *images, uint32_t pid)
{
    for (uint32_t at = pid * 2654435761u >> 7;; at++) {
        const struct image **place = &images->table[at & (images->room - 1)];

        if (*place == NULL || (*place)->pid == pid)
            return place;
    }
}

static void grow(struct images *images)
{
    const struct image **old = images->table;
    uint32_t old_room = images->room;

    images->room *= 2;
    images->table = alloc_zero(images->room, sizeof(images->table[0]));
    for (uint32_t i = 0; i < old_room; i++)
        if (old[i] != NULL)
            *find_place(images, old[i]->pid) = old[i];
    free(old);
}

static bool is_same(const struct image *left, const struct image *right, const char *path, size_t length)
{
    return left->base == right->base && left->size == right->size &&
           memcmp(left->build_id, right->build_id, sizeof(left->build_id)) == 0 &&
           strlen(left->path) == length && memcmp(left->path, path, length) == 0;
}

void images_add(struct images *images, const struct image *image, const char *path, size_t length)
{
    const struct image **place = find_place(images, image->pid);
    struct image *added;
    unsigned known = 0;

    length = length < IMAGE_PATH_BYTES ? length : IMAGE_PATH_BYTES - 1;
    for (const struct image *old = *place; old != NULL; old = old->next, known++)
        if (is_same(old, image, path, length))
            return; /* a statedump repeats known facts */
    if (images->count == IMAGES_MAX || known == IMAGES_OF_ONE_MAX)
        return;
    if (*place == NULL && ++images->process_count * 2 > images->room) {
        grow(images);
        place = find_place(images, image->pid);
    }
    images->count++;
    added = arena_alloc(&images->arena, sizeof(*added));
    *added = *image;
    added->path = arena_string(&images->arena, path, length);
    added->next = *place;
    added->later = NULL;
    *place = added;
    if (images->newest != NULL)
        images->newest->later = added;
    else
        images->oldest = added;
    images->newest = added;
}

const struct image *images_of(const struct images *images, uint32_t pid)
{
    return *find_place(images, pid);
}

static const struct image *find_in(const struct images *images, uint32_t pid, uint64_t address)
{
    const struct image *image = images_of(images, pid);

    while (image != NULL && (address < image->base || address - image->base >= image->size))
        image = image->next;
    return image;
}

const struct image *images_find(const struct images *images, uint32_t pid, uint64_t address)
{
    const struct image *image = find_in(images, pid, address);

    return image != NULL || pid == 0 ? image : find_in(images, 0, address);
}
