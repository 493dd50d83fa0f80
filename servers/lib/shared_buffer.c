/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shared_buffer.c - memory shared with each client for bulk data (server.h).
 *
 * Buffer i lies at BUFFER_REGION + i * SERVER_BUFFER_BYTES, so a span becomes an address by arithmetic and
 * one check of the owner.
 *
 * The cost of a request does not depend on how many buffers exist: those of a client are found through a hash
 * bucket, and the most recently freed buffer is reused first, which keeps the number ever used small.
 *
 * Locking: buffers_lock covers everything but the read of `owner` in server_span.
 */
#include "shared_buffer.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <tarn/error.h>
#include <tarn/runtime.h>

#define BUFFER_COUNT   4096u
#define BUFFER_NONE    BUFFER_COUNT
#define CLIENT_BUCKETS 256u
#define BUFFER_REGION  0x0000500000000000ull

/* Reserves: the last BUFFERS_FOR_FIRST buffers go only to clients that have none, so that no client can
 * exhaust them for others. The last BUFFERS_FOR_SYSTEM are for init and proc (client 0), which need them to
 * start programs. */
#define BUFFERS_FOR_FIRST  (BUFFER_COUNT / 2)
#define BUFFERS_FOR_SYSTEM 64u

enum { BUFFER_FREE, BUFFER_LIVE, BUFFER_DEAD };

static struct buffer {
    /* Client's pid + 1, or 0. Written under buffers_lock; seq_cst, pairs with server_span. */
    _Atomic uint64_t owner;
    cap_t memory;
    uint32_t state;
    uint32_t next; /* next in the client's bucket (live) or in the free list; BUFFER_NONE: the last */
} buffers[BUFFER_COUNT];

static pthread_mutex_t buffers_lock = PTHREAD_MUTEX_INITIALIZER; /* innermost lock */
static uint32_t client_buffers[CLIENT_BUCKETS];                  /* hash buckets: the first live buffer */
static uint32_t buffers_free;                                    /* the most recently freed one */
/* buffers from this index on were never used */
static uint32_t buffers_top;
static uint32_t buffers_dead; /* number of dead ones */
static uint32_t buffers_used; /* number not free */

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

static uint32_t *bucket_of(uint32_t client)
{
    return &client_buffers[client % CLIENT_BUCKETS];
}

static bool is_owned_by(uint32_t buffer, uint32_t client)
{
    return atomic_load_explicit(&buffers[buffer].owner, memory_order_relaxed) == client + 1ull;
}

static uint32_t count_buffers(uint32_t client)
{
    uint32_t count = 0;
    for (uint32_t i = *bucket_of(client); i != BUFFER_NONE; i = buffers[i].next)
        count += is_owned_by(i, client);
    return count;
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
static int check_share(uint32_t client)
{
    uint32_t held = count_buffers(client), left = BUFFER_COUNT - buffers_used;
    if (held >= SERVER_BUFFERS_MAX)
        return -EMFILE;
    uint32_t kept = client == 0 ? 0 : held ? BUFFERS_FOR_FIRST : BUFFERS_FOR_SYSTEM;
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

static int64_t attach_locked(struct server_request *request)
{
    int error = check_share(request->client);
    if (error)
        return error;
    uint32_t index = take_free(), *bucket = bucket_of(request->client);
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
    buffer->next = *bucket;
    *bucket = index;
    buffers_used++;
    atomic_store(&buffer->owner, request->client + 1ull);
    request->send[0] = (cap_t)memory;
    request->word[0] = SERVER_BUFFER_BYTES;
    return index;
}

int64_t shared_buffer_attach(struct server_request *request)
{
    pthread_mutex_lock(&buffers_lock);
    int64_t result = attach_locked(request);
    pthread_mutex_unlock(&buffers_lock);
    return result;
}

bool shared_buffers_close_client(uint32_t client)
{
    uint32_t closed = 0;
    pthread_mutex_lock(&buffers_lock);
    for (uint32_t *link = bucket_of(client); *link != BUFFER_NONE;) {
        struct buffer *buffer = &buffers[*link];
        if (!is_owned_by(*link, client)) {
            link = &buffer->next;
            continue;
        }
        *link = buffer->next;
        atomic_store(&buffer->owner, 0);
        buffer->state = BUFFER_DEAD;
        closed++;
    }
    bool is_first = closed && buffers_dead == 0;
    buffers_dead += closed;
    pthread_mutex_unlock(&buffers_lock);
    return is_first;
}

void shared_buffers_reclaim(void)
{
    pthread_mutex_lock(&buffers_lock);
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
    pthread_mutex_unlock(&buffers_lock);
}

void shared_buffers_init(void)
{
    for (uint32_t i = 0; i < CLIENT_BUCKETS; i++)
        client_buffers[i] = BUFFER_NONE;
    buffers_free = BUFFER_NONE;
}
