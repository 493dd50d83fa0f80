/* SPDX-License-Identifier: BSD-2-Clause */
/* executables.c - which executables are mapped where; see executables.h. */
#include <string.h>
#include <tools/tarn/model/executables.h>

void images_open(struct images *images)
{
    memset(images, 0, sizeof(*images));
    map_open(&images->newest_of, sizeof(struct image *));
}

void images_close(struct images *images)
{
    map_close(&images->newest_of);
    arena_free(&images->arena);
    memset(images, 0, sizeof(*images));
}

static bool is_same(const struct image *left, const struct image *right, const char *path, size_t length)
{
    return left->base == right->base && left->size == right->size &&
           memcmp(left->build_id, right->build_id, sizeof(left->build_id)) == 0 &&
           strlen(left->path) == length && memcmp(left->path, path, length) == 0;
}

void images_add(struct images *images, const struct image *image, const char *path, size_t length)
{
    const struct image *first = images_of(images, image->pid);
    struct image *added;
    unsigned known = 0;

    length = length < IMAGE_PATH_BYTES ? length : IMAGE_PATH_BYTES - 1;
    for (const struct image *old = first; old != NULL; old = old->next, known++)
        if (is_same(old, image, path, length))
            return; /* a statedump repeats known facts */
    if (images->count == IMAGES_MAX || known == IMAGES_OF_ONE_MAX)
        return;
    images->count++;
    added = arena_alloc(&images->arena, sizeof(*added));
    *added = *image;
    added->path = arena_string(&images->arena, path, length);
    added->next = first;
    added->later = NULL;
    *(const struct image **)map_at(&images->newest_of, image->pid, 0, 0) = added;
    if (images->newest != NULL)
        images->newest->later = added;
    else
        images->oldest = added;
    images->newest = added;
}

const struct image *images_of(const struct images *images, uint32_t pid)
{
    const struct image *const *first = map_find(&images->newest_of, pid, 0, 0);

    return first != NULL ? *first : NULL;
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
