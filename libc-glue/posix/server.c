/*
 * server.c - requests to servers, and the pool of shared buffers ("shared_buffers"). Interface:
 * tarn/server.h.
 *
 * Locking: the `free` bits of a pool are set and cleared atomically, so a request takes no lock unless it
 * must attach another buffer (pool->lock) or wait for one (futex pool->returned).
 */
#include "../tarn/lock_trace.h"
#include "call.h"

#include <limits.h>
#include <stdatomic.h>
#include <tarn/server.h>

static uint64_t patience_ns;

void set_server_patience(uint64_t ns)
{
    patience_ns = ns;
}

static uint64_t call_deadline(void)
{
    return patience_ns ? deadline_after(patience_ns) : TARN_FOREVER;
}

int64_t call_server_message(cap_t server, struct ipc_message *message)
{
    int64_t result = ipc_call_deadline(server, message, call_deadline());
    return result < 0 ? errno_of(result) : (int64_t)message->label;
}

int64_t call_server(cap_t server, uint64_t label, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    struct ipc_message message = {.label = label, .word = {a, b, c, d, any_value(), any_value()}};
    int64_t result = ipc_call_deadline(server, &message, call_deadline());
    return result < 0 ? errno_of(result) : (int64_t)message.label;
}

/* ---- shared buffers -------------------------------------------------------------------------------- */

#define POOL_FULL   1           /* attach_buffer: this process has the maximum number of buffers */
#define PATIENCE_NS 1000000000u /* how long to wait for one of our buffers if the server refuses another */

/* One pool per server, indexed by the slot of its endpoint. */
static struct pool {
    _Atomic uint64_t free;     /* bit set of attached buffers that are not borrowed */
    _Atomic uint32_t returned; /* futex: incremented when a buffer is returned while a thread waits */
    _Atomic uint32_t waiters;
    struct lock lock;
    uint32_t attached; /* under lock */
    struct {
        uint32_t number;
        char *base;
    } shared[SERVER_BUFFERS_MAX]; /* written before the buffer is first free */
} pools[SLOT_FIRST_FREE];

/* Returns the index of a free buffer, or -1. Acquire pairs with the release in return_buffer. */
static int take_free_buffer(struct pool *pool)
{
    uint64_t free = atomic_load_explicit(&pool->free, memory_order_relaxed);
    while (free)
        if (atomic_compare_exchange_weak_explicit(&pool->free, &free, free & (free - 1), memory_order_acquire,
                                                  memory_order_relaxed))
            return __builtin_ctzll(free);
    return -1;
}

/* Attaches a buffer and borrows it; stores its index in *place. Returns 0, POOL_FULL, or the server's error
 * as a negative errno. Called with pool->lock held. */
static int64_t attach_buffer(cap_t server, struct pool *pool, uint32_t *place)
{
    if (pool->attached == SERVER_BUFFERS_MAX)
        return POOL_FULL;
    struct ipc_message message = {.label = SERVER_ATTACH};
    int64_t number = call_server_message(server, &message);
    if (number < 0)
        return number;
    char *base = memory_map(message.cap[0], SERVER_BUFFER_BYTES, MAP_READ | MAP_WRITE);
    sys_cap_close(message.cap[0]);
    if (!base)
        return -ENOMEM;
    pool->shared[pool->attached].number = (uint32_t)number;
    pool->shared[pool->attached].base = base;
    *place = pool->attached++;
    return 0;
}

/* Waits until another thread returns a buffer and stores its index in *place. Returns 0 or -ETIMEDOUT. A
 * return after `returned` was read changes it, so futex_wait does not sleep. */
static int64_t wait_for_buffer(struct pool *pool, uint64_t deadline, uint32_t *place)
{
    struct lock_wait wait = begin_lock_wait(TARN_LOCK_WINDOW, pool, 0);
    int taken, slept = 0;
    atomic_fetch_add(&pool->waiters, 1);
    for (;;) {
        uint32_t seen = atomic_load(&pool->returned);
        taken = take_free_buffer(pool);
        if (taken >= 0 || slept == -E_TIMEOUT)
            break;
        slept = sleep_for_lock(&wait, (const uint32_t *)&pool->returned, seen, deadline);
    }
    atomic_fetch_sub(&pool->waiters, 1);
    end_lock_wait(&wait);
    *place = (uint32_t)taken;
    return taken < 0 ? -ETIMEDOUT : 0;
}

/* If the pool is full, a buffer comes back when another thread's request ends. If the server refuses, it may
 * never grant one. Then the caller waits for a limited time, and only if other threads of this process have
 * buffers to return; after that it gets the server's error. */
static int64_t attach_or_wait(cap_t server, struct pool *pool, uint32_t *place)
{
    lock_acquire(&pool->lock);
    int64_t result = attach_buffer(server, pool, place);
    bool others = pool->attached != 0;
    lock_release(&pool->lock);
    if (result == POOL_FULL)
        return wait_for_buffer(pool, call_deadline(), place);
    if ((result == -ENFILE || result == -ENOMEM) && others &&
        wait_for_buffer(pool, deadline_after(PATIENCE_NS), place) == 0)
        return 0;
    return result;
}

int64_t borrow_buffer(cap_t server, struct shared_buffer *shared)
{
    if (server >= SLOT_FIRST_FREE)
        return -EBADF;
    struct pool *pool = &pools[server];
    int taken = take_free_buffer(pool);
    uint32_t place = (uint32_t)taken;
    int64_t result = taken < 0 ? attach_or_wait(server, pool, &place) : 0;
    if (result < 0)
        return result;
    shared->server = server;
    shared->place = place;
    shared->number = pool->shared[place].number;
    shared->base = pool->shared[place].base;
    return 0;
}

/* Sequentially consistent: the bit must be visible before `waiters` is read (wait_for_buffer). */
void return_buffer(struct shared_buffer *shared)
{
    struct pool *pool = &pools[shared->server];
    atomic_fetch_or(&pool->free, 1ull << shared->place);
    if (atomic_load(&pool->waiters)) {
        atomic_fetch_add(&pool->returned, 1);
        sys_futex_wake((const uint32_t *)&pool->returned, 1);
    }
}
