/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * storage.h - the bytes of one file: a memory object that grows and can be lent.
 *
 * Bytes that were never written are zero. Programs map the object itself (storage_executable). A write to a
 * lent file first copies it, so running programs never see a change. There are two implementations: storage.c
 * with memory objects and tests/unit/servers/storage_host.c with malloc.
 *
 * Locking: the caller holds the node's lock.
 */
#ifndef SERVERS_FS_STORAGE_H
#define SERVERS_FS_STORAGE_H

#include <stdbool.h>
#include <stdint.h>

struct storage {
    uint32_t memory;   /* capability; 0: none yet */
    bool lent;         /* may be mapped by programs that run it */
    bool shared;       /* may be written to through a shared mapping */
    uint64_t capacity; /* bytes of the memory object */
};

#define STORAGE_MAX (1ull << 32)

/* These return 0 or -errno. */
int storage_read(struct storage *storage, uint64_t offset, void *buffer, uint64_t size);
int storage_write(struct storage *storage, uint64_t offset, const void *buffer, uint64_t size);
/* Changes the file's size from `old_size` to `size`. Bytes beyond the new size become zero. */
int storage_truncate(struct storage *storage, uint64_t old_size, uint64_t size);
/* Returns in *capability a new capability for the current contents, which later writes do not change. The
 * caller closes it. */
int storage_executable(struct storage *storage, uint64_t size, uint32_t *capability);
/* Returns in *capability a new capability for the file's
 * own memory, shared from now on. The caller closes it. */
int storage_share(struct storage *storage, uint64_t size, uint32_t *capability);
void storage_release(struct storage *storage);

#endif
