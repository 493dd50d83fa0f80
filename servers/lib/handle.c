/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handle.c - tables of handles. Interface: handle.h.
 *
 * Locking: bucket->lock covers the clients with that hash and their tables. It is an innermost lock:
 * references are dropped after its release. handle_inherit locks one bucket at a time.
 */
#include "handle.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 64u

struct client {
    struct client *next;
    uint32_t pid, size; /* capacity of objects[] */
    void **objects;     /* by handle; NULL: free */
};

static struct bucket {
    pthread_mutex_t lock;
    /* covered by `lock`: */
    struct client *clients;
} buckets[BUCKETS] = {[0 ... BUCKETS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

static _Atomic uint64_t open_handles;

static struct bucket *lock_bucket(uint32_t pid)
{
    struct bucket *bucket = &buckets[pid % BUCKETS];
    pthread_mutex_lock(&bucket->lock);
    return bucket;
}

static struct client *find_client(struct bucket *bucket, uint32_t pid, bool make)
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

static void get_object(struct handle_object *object)
{
    atomic_fetch_add_explicit(&object->references, 1, memory_order_relaxed);
}

void handle_put(void *object)
{
    /* Release: our accesses precede the destruction by the last user. Acquire: this may be the last user. */
    if (atomic_fetch_sub_explicit(&((struct handle_object *)object)->references, 1, memory_order_acq_rel) ==
        1)
        handle_object_free(object);
}

static int64_t add_locked(struct client *client, void *object)
{
    uint32_t handle = 0;
    while (handle < client->size && client->objects[handle])
        handle++;
    if (handle == client->size) {
        uint32_t size = client->size ? client->size * 2 : 8;
        void **objects = size > handles_max ? NULL : calloc(size, sizeof(void *));
        if (!objects)
            return size > handles_max ? -EMFILE : -ENOMEM;
        if (client->size)
            memcpy(objects, client->objects, client->size * sizeof(void *));
        free(client->objects);
        client->objects = objects;
        client->size = size;
    }
    client->objects[handle] = object;
    get_object(object);
    open_handles++;
    return handle;
}

int64_t handle_add(uint32_t pid, void *object)
{
    struct bucket *bucket = lock_bucket(pid);
    struct client *client = find_client(bucket, pid, true);
    int64_t result = client ? add_locked(client, object) : -ENOMEM;
    pthread_mutex_unlock(&bucket->lock);
    return result;
}

void *handle_get(uint32_t pid, uint64_t handle)
{
    struct bucket *bucket = lock_bucket(pid);
    struct client *client = find_client(bucket, pid, false);
    void *object = client && handle < client->size ? client->objects[handle] : NULL;
    if (object)
        get_object(object);
    pthread_mutex_unlock(&bucket->lock);
    return object;
}

static void drop(void *object, uint32_t pid, uint64_t handle, bool exiting)
{
    handle_object_closed(object, pid, handle, exiting);
    open_handles--;
    handle_put(object);
}

int64_t handle_close(uint32_t pid, uint64_t handle)
{
    void *object = NULL;
    struct bucket *bucket = lock_bucket(pid);
    struct client *client = find_client(bucket, pid, false);
    if (client && handle < client->size) {
        object = client->objects[handle];
        client->objects[handle] = NULL;
    }
    pthread_mutex_unlock(&bucket->lock);
    if (!object)
        return -EBADF;
    drop(object, pid, handle, false);
    return 0;
}

int64_t handle_inherit(uint32_t parent, uint32_t child, uint64_t *handles, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        void *object = handle_get(parent, handles[i]);
        int64_t handle = object ? handle_add(child, object) : -EBADF;
        if (object)
            handle_put(object);
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
        if (client->objects[handle])
            drop(client->objects[handle], pid, handle, true);
    free(client->objects);
    free(client);
}

uint64_t handle_count(void)
{
    return open_handles;
}
