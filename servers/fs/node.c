/* SPDX-License-Identifier: BSD-2-Clause */
/* node.c - creates, destroys, reads and writes nodes. Interface and locking: node.h. Names: tree.c. */
#include "node.h"
#include "pipe.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

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
        storage_release(&node->storage);
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

void node_attributes(struct node *node, struct attributes *attributes)
{
    pthread_mutex_lock(&node->lock);
    *attributes = (struct attributes){
        .number = node->number,
        .size = node->kind == NODE_DIRECTORY ? node->directory.entry_count : node->size,
        .modified = node->modified,
        .mode = node->mode,
        .links = node->links,
    };
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
    int error = size ? storage_read(&node->storage, offset, buffer, size) : 0;
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
    if (append)
        *offset = node->size;
    int error = 0;
    if (*offset > STORAGE_MAX || size > STORAGE_MAX - *offset)
        error = -EFBIG;
    else if (size)
        error = storage_write(&node->storage, *offset, buffer, size);
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
    int error = storage_truncate(&node->storage, node->size, size);
    if (!error)
        note_change(node, size);
    pthread_mutex_unlock(&node->lock);
    return error;
}
