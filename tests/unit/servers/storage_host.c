/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * storage_host.c - storage.h over malloc, for tests. `memory` is an index + 1. Allocations have
 * exactly the requested size, so that the sanitizer sees every access beyond.
 */
#include "storage_host.h"
#include <errno.h>
#include <pthread.h>
#include <servers/fs/storage.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t memories_lock = PTHREAD_MUTEX_INITIALIZER;
static char *memories[4096]; /* a used entry belongs to its file; free ones are found under the lock */
uint64_t storage_limit = ~0ull;

static char **slot_of(struct storage *storage)
{
    pthread_mutex_lock(&memories_lock);
    for (uint32_t i = 1; !storage->memory && i < 4096; i++) {
        if (!memories[i]) {
            storage->memory = i;
            storage->capacity = 0;
            memories[i] = malloc(1);
        }
    }
    pthread_mutex_unlock(&memories_lock);
    return &memories[storage->memory];
}

int storage_read(struct storage *storage, uint64_t offset, void *buffer, uint64_t size)
{
    uint64_t present = offset < storage->capacity ? storage->capacity - offset : 0;
    if (present > size)
        present = size;
    if (present)
        memcpy(buffer, memories[storage->memory] + offset, present);
    memset((char *)buffer + present, 0, size - present);
    return 0;
}

int storage_write(struct storage *storage, uint64_t offset, const void *buffer, uint64_t size)
{
    char **memory = slot_of(storage);
    if (offset + size > storage_limit)
        return -ENOSPC;
    if (offset + size > storage->capacity) {
        char *grown = realloc(*memory, offset + size);
        if (!grown)
            return -ENOSPC;
        *memory = grown;
        memset(*memory + storage->capacity, 0, offset + size - storage->capacity);
        storage->capacity = offset + size;
    }
    memcpy(*memory + offset, buffer, size);
    return 0;
}

int storage_truncate(struct storage *storage, uint64_t old_size, uint64_t size)
{
    if (storage->memory && size < storage->capacity)
        memset(memories[storage->memory] + size, 0, storage->capacity - size);
    return 0;
}

void storage_release(struct storage *storage)
{
    if (storage->memory) {
        free(memories[storage->memory]);
        pthread_mutex_lock(&memories_lock);
        memories[storage->memory] = NULL;
        pthread_mutex_unlock(&memories_lock);
    }
    *storage = (struct storage){0};
}

unsigned storage_live(void)
{
    unsigned count = 0;
    for (unsigned i = 1; i < 4096; i++)
        count += memories[i] != NULL;
    return count;
}
