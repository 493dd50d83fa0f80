/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * open.c - open files and handle tables. Interface: open.h.
 *
 * Locking: bucket->lock covers the clients with that hash and their tables. It is an innermost lock:
 * references are dropped after its release. SERVER_INHERIT locks one bucket at a time.
 */
#include "open.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 64u

struct client {
    struct client *next;
    uint32_t pid, size; /* capacity of files[] */
    struct open_file **files;
};

static struct bucket {
    pthread_mutex_t lock;
    /* covered by `lock`: */
    struct client *clients;
} buckets[BUCKETS] = {[0 ... BUCKETS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

static _Atomic uint64_t open_handles; /* statistics only; relaxed */

/* ---- open files ------------------------------------------------------------------------------------ */

enum pipe_end open_file_end(const struct open_file *file)
{
    return file->access == O_WRONLY ? PIPE_WRITE : PIPE_READ;
}

struct open_file *open_file_create(struct node *node, int flags)
{
    struct open_file *file = calloc(1, sizeof(*file));
    if (!file) {
        node_put(node);
        return NULL;
    }
    atomic_store(&file->references, 1);
    pthread_mutex_init(&file->lock, NULL);
    file->node = node;
    file->access = flags & O_ACCMODE;
    file->flags = flags & (O_APPEND | O_NONBLOCK);
    if (node->kind == NODE_PIPE)
        pipe_open_end(node->pipe, open_file_end(file));
    return file;
}

void open_file_put(struct open_file *file)
{
    /* Ordering as in node_put. */
    if (atomic_fetch_sub_explicit(&file->references, 1, memory_order_acq_rel) != 1)
        return;
    if (file->node->kind == NODE_PIPE)
        pipe_close_end(file->node->pipe, open_file_end(file));
    node_put(file->node);
    pthread_mutex_destroy(&file->lock);
    free(file);
}

static void open_file_get(struct open_file *file)
{
    atomic_fetch_add_explicit(&file->references, 1, memory_order_relaxed);
}

/* ---- handles --------------------------------------------------------------------------------------- */

static struct bucket *lock_bucket(uint32_t pid)
{
    struct bucket *bucket = &buckets[pid % BUCKETS];
    pthread_mutex_lock(&bucket->lock);
    return bucket;
}

static struct client *find_client(struct bucket *bucket, uint32_t pid, int make)
{
    struct client *client = bucket->clients;
    while (client && client->pid != pid)
        client = client->next;
    if (!client && make) {
        client = calloc(1, sizeof(*client));
        if (client) {
            client->pid = pid;
            client->next = bucket->clients;
            bucket->clients = client;
        }
    }
    return client;
}

static int64_t add_locked(struct client *client, struct open_file *file)
{
    uint32_t handle = 0;
    while (handle < client->size && client->files[handle])
        handle++;
    if (handle == client->size) {
        uint32_t size = client->size ? client->size * 2 : 8;
        struct open_file **files = size > HANDLES_MAX ? NULL : calloc(size, sizeof(struct open_file *));
        if (!files)
            return size > HANDLES_MAX ? -EMFILE : -ENOMEM;
        if (client->size)
            memcpy(files, client->files, client->size * sizeof(struct open_file *));
        free(client->files);
        client->files = files;
        client->size = size;
    }
    client->files[handle] = file;
    atomic_fetch_add(&open_handles, 1);
    return handle;
}

int64_t handle_add(uint32_t pid, struct open_file *file)
{
    if (!file)
        return -ENOMEM;
    struct bucket *bucket = lock_bucket(pid);
    struct client *client = find_client(bucket, pid, 1);
    int64_t result = client ? add_locked(client, file) : -ENOMEM;
    pthread_mutex_unlock(&bucket->lock);
    if (result < 0)
        open_file_put(file);
    return result;
}

struct open_file *handle_get(uint32_t pid, uint64_t handle)
{
    struct bucket *bucket = lock_bucket(pid);
    struct client *client = find_client(bucket, pid, 0);
    struct open_file *file = client && handle < client->size ? client->files[handle] : NULL;
    if (file)
        open_file_get(file);
    pthread_mutex_unlock(&bucket->lock);
    return file;
}

static void forget(struct open_file *file, uint32_t pid, uint64_t handle, bool exiting)
{
    if (file->node->kind == NODE_PIPE)
        pipe_forget(file->node->pipe, pid, handle, exiting);
    atomic_fetch_sub(&open_handles, 1);
    open_file_put(file);
}

int handle_close(uint32_t pid, uint64_t handle)
{
    struct open_file *file = NULL;
    struct bucket *bucket = lock_bucket(pid);
    struct client *client = find_client(bucket, pid, 0);
    if (client && handle < client->size) {
        file = client->files[handle];
        client->files[handle] = NULL;
    }
    pthread_mutex_unlock(&bucket->lock);
    if (!file)
        return -EBADF;
    forget(file, pid, handle, false);
    return 0;
}

int64_t handle_inherit(uint32_t parent, uint32_t child, uint64_t *handles, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct open_file *file = handle_get(parent, handles[i]);
        int64_t handle = file ? handle_add(child, file) : -EBADF;
        if (handle < 0) {
            while (i--)
                handle_close(child, handles[i]);
            return handle;
        }
        handles[i] = (uint64_t)handle;
    }
    return 0;
}

void handle_close_client(uint32_t pid)
{
    struct bucket *bucket = lock_bucket(pid);
    struct client **link = &bucket->clients;
    while (*link && (*link)->pid != pid)
        link = &(*link)->next;
    struct client *client = *link;
    if (client)
        *link = client->next;
    pthread_mutex_unlock(&bucket->lock);
    if (!client)
        return;
    for (uint32_t handle = 0; handle < client->size; handle++)
        if (client->files[handle])
            forget(client->files[handle], pid, handle, true);
    free(client->files);
    free(client);
}

uint64_t handle_count(void)
{
    return atomic_load(&open_handles);
}
