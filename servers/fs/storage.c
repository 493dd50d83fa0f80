/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * storage.c - file contents in memory objects. Interface and rules: storage.h.
 *
 * Bytes are copied straight between the memory object and the client's shared buffer (memory_read,
 * memory_write), so the server maps no file. Objects grow geometrically; unwritten pages use no page frames.
 */
#include "storage.h"
#include <errno.h>
#include <servers/lib/server.h>
#include <stdatomic.h>
#include <string.h>
#include <tarn/error.h>
#include <tarn/runtime.h>
#include <tarn/syscall.h>

#define COPY_BYTES   4096u
#define CREDIT_BYTES (256ull << 10)
/* 1/FREE_PART of memory stays free of files. Programs may use all but 1/64 (kernel/memory/scarce.h). */
#define FREE_PART    20u

static int storage_error(int64_t result)
{
    return result == -E_NO_MEMORY || result == -E_NO_SLOT || result == -E_TOO_LARGE ? -ENOSPC
                                                                                    : errno_of(result);
}

void storage_release(struct storage *storage)
{
    if (storage->memory)
        sys_cap_close(storage->memory);
    *storage = (struct storage){0};
}

/* Returns the slot of a new memory object with the first `size` bytes of this one, or -errno. */
static int64_t copy_memory(const struct storage *storage, uint64_t size)
{
    char buffer[COPY_BYTES];
    int64_t copy = sys_memory_create(round_to_pages(size ? size : 1));
    if (copy < 0)
        return storage_error(copy);
    if (size > storage->capacity)
        size = storage->capacity;
    for (uint64_t offset = 0; offset < size; offset += COPY_BYTES) {
        uint64_t bytes = size - offset < COPY_BYTES ? size - offset : COPY_BYTES;
        int64_t error = sys_memory_read(storage->memory, offset, buffer, bytes);
        if (error >= 0)
            error = memory_write_all((cap_t)copy, offset, buffer, bytes);
        if (error < 0) {
            sys_cap_close((cap_t)copy);
            return storage_error(error);
        }
    }
    return copy;
}

/* Before a change: leaves lent memory to its users and continues with a copy. */
static int unshare(struct storage *storage)
{
    if (!storage->lent)
        return 0;
    uint64_t size = storage->capacity;
    int64_t copy = copy_memory(storage, size);
    if (copy < 0)
        return (int)copy;
    storage_release(storage);
    storage->memory = (uint32_t)copy;
    storage->capacity = round_to_pages(size ? size : 1);
    return 0;
}

/* Files leave part of memory free, so that there is always enough to run the program that removes files. The
 * kernel is asked once per CREDIT_BYTES written and, while memory is short, before each write. */
static bool may_grow(uint64_t size)
{
    static _Atomic uint64_t credit;
    uint64_t left = atomic_load_explicit(&credit, memory_order_relaxed);
    if (left >= size) {
        /* Two workers may use the same credit. That is harmless: it is small. */
        atomic_store_explicit(&credit, left - size, memory_order_relaxed);
        return true;
    }
    struct system_stats stats;
    if (sys_system_read(SYSTEM_STATS, 0, &stats, sizeof stats) < 0 ||
        stats.frames_free < stats.frames_total / FREE_PART + size / TARN_PAGE_SIZE)
        return false;
    atomic_store_explicit(&credit, CREDIT_BYTES, memory_order_relaxed);
    return true;
}

static int reserve(struct storage *storage, uint64_t size)
{
    if (size <= storage->capacity)
        return 0;
    if (size > STORAGE_MAX)
        return -EFBIG;
    uint64_t capacity = storage->capacity * 2 > size ? storage->capacity * 2 : size;
    capacity = round_to_pages(capacity);
    if (!storage->memory) {
        int64_t memory = sys_memory_create(capacity);
        if (memory < 0)
            return storage_error(memory);
        storage->memory = (uint32_t)memory;
    } else {
        int64_t error = sys_memory_resize(storage->memory, capacity);
        if (error < 0)
            return storage_error(error);
    }
    storage->capacity = capacity;
    return 0;
}

int storage_read(struct storage *storage, uint64_t offset, void *buffer, uint64_t size)
{
    uint64_t present = offset < storage->capacity ? storage->capacity - offset : 0;
    if (present > size)
        present = size;
    if (present) {
        int64_t error = sys_memory_read(storage->memory, offset, buffer, present);
        if (error < 0)
            return storage_error(error);
    }
    memset((char *)buffer + present, 0, size - present);
    return 0;
}

int storage_write(struct storage *storage, uint64_t offset, const void *buffer, uint64_t size)
{
    int error = may_grow(size) ? unshare(storage) : -ENOSPC;
    if (!error)
        error = reserve(storage, offset + size);
    if (error)
        return error;
    error = memory_write_all(storage->memory, offset, buffer, size);
    return error ? storage_error(error) : 0;
}

static int write_zeros(struct storage *storage, uint64_t offset, uint64_t end)
{
    static const char zeros[COPY_BYTES];
    for (uint64_t bytes; offset < end; offset += bytes) {
        bytes = COPY_BYTES - offset % COPY_BYTES;
        if (bytes > end - offset)
            bytes = end - offset;
        int64_t error = memory_write_all(storage->memory, offset, zeros, bytes);
        if (error < 0)
            return storage_error(error);
    }
    return 0;
}

int storage_truncate(struct storage *storage, uint64_t old_size, uint64_t size)
{
    if (size > STORAGE_MAX)
        return -EFBIG;
    uint64_t end = old_size < storage->capacity ? old_size : storage->capacity;
    if (size >= end)
        return 0; /* beyond the contents, bytes are zero already */
    if (size == 0 && !storage->shared) {
        storage_release(storage);
        return 0;
    }
    int error = unshare(storage);
    if (error)
        return error;
    uint64_t kept = round_to_pages(size);
    if (kept < end && sys_memory_resize(storage->memory, kept) >= 0) {
        storage->capacity = kept;
        end = kept;
    }
    return write_zeros(storage, size, end);
}

/* Makes a copy of the capability with these rights. */
static int lend(struct storage *storage, uint64_t size, uint32_t rights, uint32_t *capability)
{
    int error = reserve(storage, size ? size : 1);
    if (error)
        return error;
    int64_t copy = sys_cap_copy(SLOT_SPACE, storage->memory, 0, rights | RIGHT_GRANT, 0);
    if (copy < 0)
        return storage_error(copy);
    *capability = (uint32_t)copy;
    return 0;
}

int storage_executable(struct storage *storage, uint64_t size, uint32_t *capability)
{
    if (storage->shared) { /* it may change at any time: return a copy */
        int64_t copy = copy_memory(storage, size);
        if (copy < 0)
            return (int)copy;
        *capability = (uint32_t)copy;
        return 0;
    }
    storage->lent = true;
    return lend(storage, size, RIGHT_READ | RIGHT_EXECUTE, capability);
}

int storage_share(struct storage *storage, uint64_t size, uint32_t *capability)
{
    int error = unshare(storage);
    if (error)
        return error;
    storage->shared = true;
    return lend(storage, size, RIGHT_READ | RIGHT_WRITE, capability);
}
