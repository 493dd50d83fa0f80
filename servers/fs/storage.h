/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/fs/storage.h - the bytes of one file: a memory object that grows and can be handed out.
 *
 * Bytes beyond what was written are zero. A program that is started maps the object itself (storage_image),
 * so a file that is handed out as an image is copied before it changes: who runs it never sees the change.
 * Two implementations: storage.c with memory objects, test/storage_host.c with malloc.
 * Locking: the caller's (the node's lock).
 */
#ifndef SERVERS_FS_STORAGE_H
#define SERVERS_FS_STORAGE_H

#include <stdbool.h>
#include <stdint.h>

struct storage {
    uint32_t memory;   /* capability; 0: nothing yet */
    bool lent;         /* somebody may have it mapped as an image */
    bool shared;       /* somebody may write to it */
    uint64_t capacity; /* bytes of the memory object */
};

#define STORAGE_MAX (1ull << 32)

/* All return 0 or -errno. */
int storage_read(struct storage *storage, uint64_t offset, void *buffer, uint64_t size);
int storage_write(struct storage *storage, uint64_t offset, const void *buffer, uint64_t size);
/* The file is `size` bytes now and was `old_size`: what lies beyond is zero again. */
int storage_truncate(struct storage *storage, uint64_t old_size, uint64_t size);
/* A new capability of the contents as they are now, which no later change reaches. The caller closes it. */
int storage_image(struct storage *storage, uint64_t size, uint32_t *capability);
/* A new capability whose bytes are the file's from now on. The caller closes it. */
int storage_share(struct storage *storage, uint64_t size, uint32_t *capability);
void storage_release(struct storage *storage);

#endif
