/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * window.c - memory shared with each client for bulk data ("windows": the shared buffers of server.h).
 *
 * Buffer i lies at WINDOW_REGION + i * SERVER_WINDOW_BYTES, so a span becomes an address by arithmetic and
 * one check of the owner. Unmapping interrupts every CPU that runs one of this server's threads, so buffers
 * of dead clients are reclaimed in batches: a cleaner thread waits for a moment, then unmaps each run of
 * adjacent buffers with one call.
 *
 * The cost of a request does not depend on how many buffers exist: those of a client are found through a hash
 * bucket, and the most recently freed buffer is reused first, which keeps the number ever used small.
 *
 * Locking: window_lock covers everything but the read of `owner` in server_span.
 * A worker may still copy into a buffer whose owner it checked just before it
 * changed, so the cleaner waits for all workers (worker_wait_all).
 */
#include "window.h"
#include "worker.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <tarn/error.h>
#include <tarn/runtime.h>

#define WINDOW_COUNT    4096u
#define WINDOW_NONE     WINDOW_COUNT
#define CLIENT_BUCKETS  256u
#define WINDOW_REGION   0x0000500000000000ull
#define WINDOW_BATCH_NS 50000000ull /* how long a dead buffer may wait to be reclaimed with others */

/* Reserves: the last WINDOWS_FOR_FIRST buffers go only to clients that have none, so that no client can
 * exhaust them for others. The last WINDOWS_FOR_SYSTEM are for init and proc (client 0), which need them to
 * start programs. */
#define WINDOWS_FOR_FIRST  (WINDOW_COUNT / 2)
#define WINDOWS_FOR_SYSTEM 64u

enum { WINDOW_FREE, WINDOW_LIVE, WINDOW_DEAD };

static struct window {
    /* Client's pid + 1, or 0. Written under window_lock; seq_cst, pairs with server_span. */
    _Atomic uint64_t owner;
    cap_t memory;
    uint32_t state;
    uint32_t next; /* next in the client's bucket (live) or in the free list; WINDOW_NONE: the last */
} windows[WINDOW_COUNT];

static pthread_mutex_t window_lock = PTHREAD_MUTEX_INITIALIZER; /* innermost lock */
static uint32_t client_windows[CLIENT_BUCKETS];                 /* hash buckets: the first live buffer */
static uint32_t window_free;                                    /* the most recently freed one */
/* buffers from this index on were never used */
static uint32_t window_top;
static uint32_t window_dead; /* number of dead ones */
static uint32_t window_used; /* number not free */
static cap_t cleaner_wakeup; /* notification: there are dead buffers */

static void *window_address(uint32_t index)
{
    return (void *)(uintptr_t)(WINDOW_REGION + (uint64_t)index * SERVER_WINDOW_BYTES);
}

void *server_span(uint32_t client, uint64_t span)
{
    uint32_t window = SERVER_SPAN_WINDOW(span), offset = SERVER_SPAN_OFFSET(span);
    if (window >= WINDOW_COUNT || offset > SERVER_WINDOW_BYTES ||
        SERVER_SPAN_LENGTH(span) > SERVER_WINDOW_BYTES - offset)
        return NULL;
    if (atomic_load(&windows[window].owner) != client + 1ull)
        return NULL;
    return (char *)window_address(window) + offset;
}

static uint32_t *bucket_of(uint32_t client)
{
    return &client_windows[client % CLIENT_BUCKETS];
}

static bool is_owned_by(uint32_t window, uint32_t client)
{
    return atomic_load_explicit(&windows[window].owner, memory_order_relaxed) == client + 1ull;
}

static uint32_t count_windows(uint32_t client)
{
    uint32_t count = 0;
    for (uint32_t i = *bucket_of(client); i != WINDOW_NONE; i = windows[i].next)
        count += is_owned_by(i, client);
    return count;
}

static uint32_t take_free(void)
{
    uint32_t index = window_free;
    if (index != WINDOW_NONE)
        window_free = windows[index].next;
    else if (window_top < WINDOW_COUNT)
        index = window_top++;
    return index;
}

static void put_free(uint32_t index)
{
    windows[index] = (struct window){.state = WINDOW_FREE, .next = window_free};
    window_free = index;
}

/* Whether the client may have one more: 0, -EMFILE (its own limit) or -ENFILE (too few are left). */
static int check_share(uint32_t client)
{
    uint32_t held = count_windows(client), left = WINDOW_COUNT - window_used;
    if (held >= SERVER_WINDOWS_MAX)
        return -EMFILE;
    uint32_t kept = client == 0 ? 0 : held ? WINDOWS_FOR_FIRST : WINDOWS_FOR_SYSTEM;
    return left > kept ? 0 : -ENFILE;
}

/* Maps new memory at the address of buffer `index`. Returns its capability or -errno. */
static int64_t map_window(uint32_t index)
{
    int64_t memory = sys_memory_create(SERVER_WINDOW_BYTES);
    if (memory < 0)
        return errno_of(memory);
    int64_t mapped = sys_space_map(SLOT_SPACE, (cap_t)memory, (uint64_t)(uintptr_t)window_address(index),
                                   SERVER_WINDOW_BYTES, 0, MAP_READ | MAP_WRITE | MAP_FIXED);
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
    if (index == WINDOW_NONE)
        return -ENFILE;
    int64_t memory = map_window(index);
    if (memory < 0) {
        put_free(index);
        return memory;
    }
    struct window *window = &windows[index];
    window->memory = (cap_t)memory;
    window->state = WINDOW_LIVE;
    window->next = *bucket;
    *bucket = index;
    window_used++;
    atomic_store(&window->owner, request->client + 1ull);
    request->send[0] = (cap_t)memory;
    request->word[0] = SERVER_WINDOW_BYTES;
    return index;
}

int64_t window_attach(struct server_request *request)
{
    pthread_mutex_lock(&window_lock);
    int64_t result = attach_locked(request);
    pthread_mutex_unlock(&window_lock);
    return result;
}

void window_close_client(uint32_t client)
{
    uint32_t closed = 0;
    pthread_mutex_lock(&window_lock);
    for (uint32_t *link = bucket_of(client); *link != WINDOW_NONE;) {
        struct window *window = &windows[*link];
        if (!is_owned_by(*link, client)) {
            link = &window->next;
            continue;
        }
        *link = window->next;
        atomic_store(&window->owner, 0);
        window->state = WINDOW_DEAD;
        closed++;
    }
    bool ring = closed && window_dead == 0;
    window_dead += closed;
    pthread_mutex_unlock(&window_lock);
    if (ring)
        sys_notification_signal(cleaner_wakeup, 1);
}

/* ---- the cleaner ----------------------------------------------------------------------------------- */

/* Unmaps all dead buffers, one call for each run of adjacent ones. */
static void reclaim_windows(void)
{
    pthread_mutex_lock(&window_lock);
    for (uint32_t first = 0, end; first < window_top; first = end) {
        end = first + 1;
        if (windows[first].state != WINDOW_DEAD)
            continue;
        while (end < window_top && windows[end].state == WINDOW_DEAD)
            end++;
        sys_space_unmap(SLOT_SPACE, (uint64_t)(uintptr_t)window_address(first),
                        (uint64_t)(end - first) * SERVER_WINDOW_BYTES);
        for (uint32_t i = end; i-- > first;) {
            /* Backwards, so that the first one is reused first and adjacent ones stay together. */
            sys_cap_close(windows[i].memory);
            put_free(i);
        }
        window_used -= end - first;
    }
    window_dead = 0;
    pthread_mutex_unlock(&window_lock);
}

static void *cleaner_main(void *argument)
{
    for (;;) {
        if (sys_notification_wait(cleaner_wakeup, TARN_FOREVER) < 0)
            continue;
        sys_thread_sleep(deadline_after(WINDOW_BATCH_NS));
        worker_wait_all(); /* no worker is still in a request that began when these buffers were live */
        reclaim_windows();
    }
    return NULL;
}

void window_init(void)
{
    pthread_t thread;
    for (uint32_t i = 0; i < CLIENT_BUCKETS; i++)
        client_windows[i] = WINDOW_NONE;
    window_free = WINDOW_NONE;
    int64_t wakeup = sys_notification_create();
    cleaner_wakeup = wakeup > 0 ? (cap_t)wakeup : 0;
    if (wakeup < 0 || pthread_create(&thread, NULL, cleaner_main, NULL) != 0)
        server_log("cannot start the cleaner: shared buffers of dead clients will not be reclaimed");
}
