/*
 * client.c - clients of a server: their handles and shared buffers. Interface: client.h.
 *
 * Buffer i lies at BUFFER_REGION + i * SERVER_BUFFER_BYTES, so a span becomes an address by arithmetic and
 * one check of the owner. The most recently freed buffer is reused first, which keeps the number ever used
 * small.
 *
 * Locking: bucket->lock covers the clients with that hash; handles_inherit locks one bucket at a time. Within
 * it, pool_lock covers the buffers, but not the read of `owner` in server_span. References are dropped, and
 * the server's functions called, after their release.
 */
#include "client.h"
#include "server.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/error.h>
#include <tarn/runtime.h>

#define BUCKETS       256u
#define BUFFER_COUNT  4096u
#define BUFFER_NONE   BUFFER_COUNT
#define BUFFER_REGION 0x0000500000000000ull

/* Reserves: the last BUFFERS_FOR_FIRST buffers go only to clients that have none, so that no client can
 * exhaust them for others. The last BUFFERS_FOR_SYSTEM are for init and proc (client 0), which need them to
 * start programs. */
#define BUFFERS_FOR_FIRST  (BUFFER_COUNT / 2)
#define BUFFERS_FOR_SYSTEM 64u

struct client {
    struct client *next;
    uint32_t pid, size; /* capacity of objects[] */
    void **objects;     /* by handle; NULL: free */
    uint32_t buffers;   /* the first one; BUFFER_NONE: none */
    uint32_t buffer_count;
};

static struct bucket {
    pthread_mutex_t lock;
    /* covered by `lock`: */
    struct client *clients;
} buckets[BUCKETS] = {[0 ... BUCKETS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

static struct bucket *lock_bucket(uint32_t pid)
{
    struct bucket *bucket = &buckets[pid % BUCKETS];
    pthread_mutex_lock(&bucket->lock);
    return bucket;
}

static struct client *find_client(struct bucket *bucket, uint32_t pid)
{
    struct client *client = bucket->clients;
    while (client && client->pid != pid)
        client = client->next;
    return client;
}

static struct client *find_or_make_client(struct bucket *bucket, uint32_t pid)
{
    struct client *client = find_client(bucket, pid);
    if (!client && (client = calloc(1, sizeof(*client)))) {
        *client = (struct client){.next = bucket->clients, .pid = pid, .buffers = BUFFER_NONE};
        bucket->clients = client;
    }
    return client;
}

static struct client *remove_client(uint32_t pid)
{
    struct bucket *bucket = lock_bucket(pid);
    struct client **link = &bucket->clients;
    while (*link && (*link)->pid != pid)
        link = &(*link)->next;
    struct client *client = *link;
    if (client)
        *link = client->next;
    pthread_mutex_unlock(&bucket->lock);
    return client;
}

/* ---- handles --------------------------------------------------------------------------------------- */

static const struct handle_class *handle_class; /* NULL: the server has no handles */
static _Atomic uint64_t open_handles;

static void get_object(struct handle_object *object)
{
    atomic_fetch_add_explicit(&object->references, 1, memory_order_relaxed);
}

void handle_put(void *object)
{
    /* Release: our accesses precede the destruction by the last user. Acquire: this may be the last user. */
    if (atomic_fetch_sub_explicit(&((struct handle_object *)object)->references, 1, memory_order_acq_rel) ==
        1)
        handle_class->free(object);
}

static int64_t add_locked(struct client *client, void *object)
{
    uint32_t handle = 0;
    while (handle < client->size && client->objects[handle])
        handle++;
    if (handle == client->size) {
        uint32_t size = client->size ? client->size * 2 : 8;
        void **objects = size > handle_class->max ? NULL : calloc(size, sizeof(void *));
        if (!objects)
            return size > handle_class->max ? -EMFILE : -ENOMEM;
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
    struct client *client = find_or_make_client(bucket, pid);
    int64_t result = client ? add_locked(client, object) : -ENOMEM;
    pthread_mutex_unlock(&bucket->lock);
    return result;
}

void *handle_get(uint32_t pid, uint64_t handle)
{
    struct bucket *bucket = lock_bucket(pid);
    struct client *client = find_client(bucket, pid);
    void *object = client && handle < client->size ? client->objects[handle] : NULL;
    if (object)
        get_object(object);
    pthread_mutex_unlock(&bucket->lock);
    return object;
}

static void drop(void *object, uint32_t pid, uint64_t handle, bool exiting)
{
    handle_class->closed(object, pid, handle, exiting);
    open_handles--;
    handle_put(object);
}

int64_t handle_close(uint32_t pid, uint64_t handle)
{
    void *object = NULL;
    struct bucket *bucket = lock_bucket(pid);
    struct client *client = find_client(bucket, pid);
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

int64_t handles_inherit(uint32_t parent, uint32_t child, uint64_t *handles, uint32_t count)
{
    if (!handle_class)
        return -ENOSYS;
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

uint64_t handle_count(void)
{
    return open_handles;
}

/* ---- shared buffers -------------------------------------------------------------------------------- */

enum { BUFFER_FREE, BUFFER_LIVE, BUFFER_DEAD };

static struct buffer {
    /* Client's pid + 1, or 0. Written under pool_lock; seq_cst, pairs with server_span. */
    _Atomic uint64_t owner;
    cap_t memory;
    uint32_t state;
    uint32_t next; /* next of the client (live) or in the free list; BUFFER_NONE: the last */
} buffers[BUFFER_COUNT];

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER; /* innermost lock */
static uint32_t buffers_free;                                 /* the most recently freed one */
static uint32_t buffers_top;                                  /* from this index on they were never used */
static uint32_t buffers_dead;                                 /* number of dead ones */
static uint32_t buffers_used;                                 /* number not free */

static void *buffer_address(uint32_t index)
{
    return (void *)(uintptr_t)(BUFFER_REGION + (uint64_t)index * SERVER_BUFFER_BYTES);
}

void *server_span(uint32_t client, uint64_t span)
{
    uint32_t buffer = SERVER_SPAN_BUFFER(span), offset = SERVER_SPAN_OFFSET(span);
    if (buffer >= BUFFER_COUNT || offset > SERVER_BUFFER_BYTES ||
        SERVER_SPAN_LENGTH(span) > SERVER_BUFFER_BYTES - offset)
        return NULL;
    if (atomic_load(&buffers[buffer].owner) != client + 1ull)
        return NULL;
    return (char *)buffer_address(buffer) + offset;
}

static uint32_t take_free(void)
{
    uint32_t index = buffers_free;
    if (index != BUFFER_NONE)
        buffers_free = buffers[index].next;
    else if (buffers_top < BUFFER_COUNT)
        index = buffers_top++;
    return index;
}

static void put_free(uint32_t index)
{
    buffers[index] = (struct buffer){.state = BUFFER_FREE, .next = buffers_free};
    buffers_free = index;
}

/* Whether the client may have one more: 0, -EMFILE (its own limit) or -ENFILE (too few are left). */
static int check_share(const struct client *client)
{
    uint32_t left = BUFFER_COUNT - buffers_used;
    if (client->buffer_count >= SERVER_BUFFERS_MAX)
        return -EMFILE;
    uint32_t kept = client->pid == 0 ? 0 : client->buffer_count ? BUFFERS_FOR_FIRST : BUFFERS_FOR_SYSTEM;
    return left > kept ? 0 : -ENFILE;
}

/* Maps new memory at the address of buffer `index`. Returns its capability or -errno. */
static int64_t map_buffer(uint32_t index)
{
    int64_t memory = sys_memory_create(SERVER_BUFFER_BYTES);
    if (memory < 0)
        return errno_of(memory);
    int64_t mapped = sys_space_map(SLOT_SPACE, (cap_t)memory, (uint64_t)(uintptr_t)buffer_address(index),
                                   SERVER_BUFFER_BYTES, 0, MAP_READ | MAP_WRITE | MAP_FIXED);
    if (mapped >= 0)
        return memory;
    sys_cap_close((cap_t)memory);
    return errno_of(mapped);
}

static int64_t attach_locked(struct client *client)
{
    int error = check_share(client);
    if (error)
        return error;
    uint32_t index = take_free();
    if (index == BUFFER_NONE)
        return -ENFILE;
    int64_t memory = map_buffer(index);
    if (memory < 0) {
        put_free(index);
        return memory;
    }
    struct buffer *buffer = &buffers[index];
    buffer->memory = (cap_t)memory;
    buffer->state = BUFFER_LIVE;
    buffer->next = client->buffers;
    client->buffers = index;
    client->buffer_count++;
    buffers_used++;
    atomic_store(&buffer->owner, client->pid + 1ull);
    return index;
}

int64_t buffer_attach(uint32_t pid, cap_t *memory)
{
    struct bucket *bucket = lock_bucket(pid);
    struct client *client = find_or_make_client(bucket, pid);
    pthread_mutex_lock(&pool_lock);
    int64_t index = client ? attach_locked(client) : -ENOMEM;
    pthread_mutex_unlock(&pool_lock);
    if (index >= 0)
        *memory = buffers[index].memory;
    pthread_mutex_unlock(&bucket->lock);
    return index;
}

/* Returns true if there were no dead buffers before. */
static bool revoke_buffers(const struct client *client)
{
    pthread_mutex_lock(&pool_lock);
    for (uint32_t i = client->buffers; i != BUFFER_NONE; i = buffers[i].next) {
        atomic_store(&buffers[i].owner, 0);
        buffers[i].state = BUFFER_DEAD;
    }
    bool is_first = client->buffer_count && buffers_dead == 0;
    buffers_dead += client->buffer_count;
    pthread_mutex_unlock(&pool_lock);
    return is_first;
}

void buffers_reclaim(void)
{
    pthread_mutex_lock(&pool_lock);
    for (uint32_t first = 0, end; first < buffers_top; first = end) {
        end = first + 1;
        if (buffers[first].state != BUFFER_DEAD)
            continue;
        while (end < buffers_top && buffers[end].state == BUFFER_DEAD)
            end++;
        sys_space_unmap(SLOT_SPACE, (uint64_t)(uintptr_t)buffer_address(first),
                        (uint64_t)(end - first) * SERVER_BUFFER_BYTES);
        for (uint32_t i = end; i-- > first;) {
            /* Backwards, so that the first one is reused first and adjacent ones stay together. */
            sys_cap_close(buffers[i].memory);
            put_free(i);
        }
        buffers_used -= end - first;
    }
    buffers_dead = 0;
    pthread_mutex_unlock(&pool_lock);
}

/* ---- beginning and end ----------------------------------------------------------------------------- */

void clients_init(const struct handle_class *handles)
{
    handle_class = handles;
    buffers_free = BUFFER_NONE;
}

bool client_end(uint32_t pid)
{
    struct client *client = remove_client(pid);
    if (!client)
        return false;
    bool is_first = revoke_buffers(client);
    for (uint32_t handle = 0; handle < client->size; handle++)
        if (client->objects[handle])
            drop(client->objects[handle], pid, handle, true);
    free(client->objects);
    free(client);
    return is_first;
}
