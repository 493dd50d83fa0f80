/*
 * node.c - nodes, and the contents of files. Interface and locking: node.h. Names: tree.c.
 *
 * The bytes of a file are in a memory object, and are copied straight between it and the client's shared
 * buffer (memory_read, memory_write), so the server maps no file. Objects grow geometrically; unwritten pages
 * use no page frames.
 */
#include "node.h"
#include "pipe.h"
#include <errno.h>
#include <servers/lib/server.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tarn/error.h>
#include <tarn/runtime.h>
#include <time.h>

#define COPY_BYTES   4096u
#define CREDIT_BYTES (256ull << 10)
/* 1/FREE_PART of memory stays free of files. Programs may use all but 1/64 (kernel/ipc/scarce.c). */
#define FREE_PART    20u

/* ---- Contents of files: a memory object ------------------------------------------------------------ */

/* The errno of a failed system call on a file's memory. */
static int memory_error(int64_t result)
{
    return result == -E_NO_MEMORY || result == -E_NO_SLOT || result == -E_TOO_LARGE ? -ENOSPC
                                                                                    : errno_of(result);
}

static void release_storage(struct storage *storage)
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
        return memory_error(copy);
    if (size > storage->capacity)
        size = storage->capacity;
    for (uint64_t offset = 0; offset < size; offset += COPY_BYTES) {
        uint64_t bytes = size - offset < COPY_BYTES ? size - offset : COPY_BYTES;
        int64_t error = sys_memory_read(storage->memory, offset, buffer, bytes);
        if (error >= 0)
            error = memory_write_all((cap_t)copy, offset, buffer, bytes);
        if (error < 0) {
            sys_cap_close((cap_t)copy);
            return memory_error(error);
        }
    }
    return copy;
}

/* Before a change: leaves lent memory to its users and continues with a copy. */
static int unshare_storage(struct storage *storage)
{
    if (!storage->lent)
        return 0;
    uint64_t size = storage->capacity;
    int64_t copy = copy_memory(storage, size);
    if (copy < 0)
        return (int)copy;
    release_storage(storage);
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
    if (size > FILE_SIZE_MAX)
        return -EFBIG;
    uint64_t capacity = round_to_pages(storage->capacity * 2 > size ? storage->capacity * 2 : size);
    int64_t result =
        storage->memory ? sys_memory_resize(storage->memory, capacity) : sys_memory_create(capacity);
    if (result < 0)
        return memory_error(result);
    if (!storage->memory)
        storage->memory = (uint32_t)result;
    storage->capacity = capacity;
    return 0;
}

static int read_storage(const struct storage *storage, uint64_t offset, void *buffer, uint64_t size)
{
    uint64_t present = offset < storage->capacity ? storage->capacity - offset : 0;
    if (present > size)
        present = size;
    if (present) {
        int64_t error = sys_memory_read(storage->memory, offset, buffer, present);
        if (error < 0)
            return memory_error(error);
    }
    memset((char *)buffer + present, 0, size - present);
    return 0;
}

static int write_storage(struct storage *storage, uint64_t offset, const void *buffer, uint64_t size)
{
    int error = may_grow(size) ? unshare_storage(storage) : -ENOSPC;
    if (!error)
        error = reserve(storage, offset + size);
    if (error)
        return error;
    error = memory_write_all(storage->memory, offset, buffer, size);
    return error ? memory_error(error) : 0;
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
            return memory_error(error);
    }
    return 0;
}

/* Changes the size. Bytes beyond the new size become zero. */
static int resize_contents(struct node *node, uint64_t size)
{
    struct storage *storage = &node->storage;
    if (size > FILE_SIZE_MAX)
        return -EFBIG;
    uint64_t end = node->size < storage->capacity ? node->size : storage->capacity;
    if (size >= end)
        return 0; /* beyond the contents, bytes are zero already */
    if (size == 0 && !storage->shared) {
        release_storage(storage);
        return 0;
    }
    int error = unshare_storage(storage);
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
static int lend(struct node *node, uint32_t rights, uint32_t *capability)
{
    struct storage *storage = &node->storage;
    int error = reserve(storage, node->size ? node->size : 1);
    if (error)
        return error;
    int64_t copy = sys_cap_copy(SLOT_SPACE, storage->memory, 0, rights | RIGHT_GRANT, 0);
    if (copy < 0)
        return memory_error(copy);
    *capability = (uint32_t)copy;
    return 0;
}

int node_executable(struct node *node, uint32_t *capability)
{
    if (node->storage.shared) { /* it may change at any time: return a copy */
        int64_t copy = copy_memory(&node->storage, node->size);
        if (copy < 0)
            return (int)copy;
        *capability = (uint32_t)copy;
        return 0;
    }
    node->storage.lent = true;
    return lend(node, RIGHT_READ | RIGHT_EXECUTE, capability);
}

int node_share(struct node *node, uint32_t *capability)
{
    node->authority = 0;
    int error = unshare_storage(&node->storage);
    if (error)
        return error;
    node->storage.shared = true;
    return lend(node, RIGHT_READ | RIGHT_WRITE, capability);
}

/* ---- Nodes ----------------------------------------------------------------------------------------- */

struct node_totals node_totals; /* statistics only; all accesses are relaxed */
static _Atomic uint64_t next_number = 1;

uint64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

struct node *node_create(enum node_kind kind, mode_t mode)
{
    struct node *node = calloc(1, sizeof(*node));
    if (!node)
        return NULL;
    atomic_store(&node->references, 1);
    node->kind = kind;
    node->mode = mode;
    node->number = atomic_fetch_add(&next_number, 1);
    node->modified = now_ns();
    pthread_mutex_init(&node->lock, NULL);
    if (kind == NODE_DIRECTORY)
        atomic_fetch_add(&node_totals.directories, 1);
    else if (kind == NODE_FILE)
        atomic_fetch_add(&node_totals.files, 1);
    return node;
}

void node_get(struct node *node)
{
    atomic_fetch_add_explicit(&node->references, 1, memory_order_relaxed);
}

static void node_destroy(struct node *node)
{
    switch (node->kind) {
    case NODE_FILE:
        atomic_fetch_sub(&node_totals.files, 1);
        atomic_fetch_sub(&node_totals.bytes, node->size);
        release_storage(&node->storage);
        break;
    case NODE_DIRECTORY: /* empty: an entry would keep the directory's name, and so a reference */
        atomic_fetch_sub(&node_totals.directories, 1);
        break;
    case NODE_PIPE:
        pipe_destroy(node->pipe);
        break;
    default:
        break;
    }
    pthread_mutex_destroy(&node->lock);
    free(node);
}

void node_put(struct node *node)
{
    /* Release: our accesses precede the destruction by the last user. Acquire: this may be the last user. */
    if (node && atomic_fetch_sub_explicit(&node->references, 1, memory_order_acq_rel) == 1)
        node_destroy(node);
}

void node_attributes(struct node *node, uint64_t word[4])
{
    pthread_mutex_lock(&node->lock);
    word[0] = node->number;
    word[1] = node->kind == NODE_DIRECTORY ? node->directory.entry_count : node->size;
    word[2] = node->mode | (uint64_t)node->links << 32;
    word[3] = node->modified;
    pthread_mutex_unlock(&node->lock);
}

void node_label(struct node *node, uint32_t authority)
{
    pthread_mutex_lock(&node->lock);
    node->authority = authority;
    pthread_mutex_unlock(&node->lock);
}

int64_t node_read(struct node *node, uint64_t offset, void *buffer, uint64_t size)
{
    if (node->kind == NODE_DIRECTORY)
        return -EISDIR;
    if (node->kind == NODE_NULL)
        return 0;
    if (node->kind == NODE_ZERO) {
        memset(buffer, 0, size);
        return (int64_t)size;
    }
    pthread_mutex_lock(&node->lock);
    uint64_t rest = offset < node->size ? node->size - offset : 0;
    if (size > rest)
        size = rest;
    int error = size ? read_storage(&node->storage, offset, buffer, size) : 0;
    pthread_mutex_unlock(&node->lock);
    return error ? error : (int64_t)size;
}

static void note_change(struct node *node, uint64_t size)
{
    atomic_fetch_add(&node_totals.bytes, size - node->size);
    node->size = size;
    node->version++;
    node->modified = now_ns();
}

int64_t node_write(struct node *node, uint64_t *offset, const void *buffer, uint64_t size, int append)
{
    if (node->kind == NODE_DIRECTORY)
        return -EISDIR;
    if (node->kind != NODE_FILE)
        return (int64_t)size;
    pthread_mutex_lock(&node->lock);
    node->authority = 0; /* first: a write that fails may have changed a part */
    if (append)
        *offset = node->size;
    int error = 0;
    if (*offset > FILE_SIZE_MAX || size > FILE_SIZE_MAX - *offset)
        error = -EFBIG;
    else if (size)
        error = write_storage(&node->storage, *offset, buffer, size);
    if (!error && size)
        note_change(node, *offset + size > node->size ? *offset + size : node->size);
    pthread_mutex_unlock(&node->lock);
    return error ? error : (int64_t)size;
}

int node_truncate(struct node *node, uint64_t size)
{
    if (node->kind == NODE_DIRECTORY)
        return -EISDIR;
    if (node->kind != NODE_FILE)
        return -EINVAL;
    pthread_mutex_lock(&node->lock);
    node->authority = 0;
    int error = resize_contents(node, size);
    if (!error)
        note_change(node, size);
    pthread_mutex_unlock(&node->lock);
    return error;
}
