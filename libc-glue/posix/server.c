/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libc-glue/posix/server.c - requests to servers and the pool of windows; server.h says how to use them.
 *
 * Locking: each server's `free` bits are taken and given back atomically, so a request takes no lock unless
 * it must attach another window (pool->lock) or wait for one (futex on pool->returned).
 */
#include "server.h"
#include "../tarn/lock_trace.h"
#include "call.h"

#include <limits.h>
#include <stdatomic.h>

static const int errno_by_error[TARN_ERROR_COUNT] = {
    [E_BAD_SYSCALL] = ENOSYS,  [E_BAD_CAP] = ENOSYS,      [E_BAD_TYPE] = ENOSYS,  [E_BAD_RIGHT] = EPERM,
    [E_BAD_ARGUMENT] = EINVAL, [E_BAD_ADDRESS] = EFAULT,  [E_NO_MEMORY] = ENOMEM, [E_NO_SLOT] = EMFILE,
    [E_TIMEOUT] = ETIMEDOUT,   [E_CANCELED] = EINTR,      [E_DEAD] = EPIPE,       [E_BUSY] = EBUSY,
    [E_AGAIN] = EAGAIN,        [E_EXISTS] = EEXIST,       [E_NOT_FOUND] = ENOENT, [E_NO_REPLY] = EIO,
    [E_TOO_LARGE] = EFBIG,     [E_UNSUPPORTED] = ENOTSUP,
};

int64_t errno_of(int64_t result)
{
    if (result >= 0)
        return result;
    return result > -TARN_ERROR_COUNT ? -errno_by_error[-result] : -EIO;
}

int64_t call_server_message(cap_t server, struct ipc_message *message)
{
    int64_t result = ipc_call(server, message);
    return result < 0 ? errno_of(result) : (int64_t)message->label;
}

int64_t call_server(cap_t server, uint64_t label, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    uint64_t word[4] = {a, b, c, d};
    int64_t result = ipc_call_words4(server, &label, word);
    return result < 0 ? errno_of(result) : (int64_t)label;
}

/* ---- windows -------------------------------------------------------------------------------------- */

#define SERVER_SLOTS 8 /* slots of servers are below */

static struct pool {
    _Atomic uint64_t free;     /* windows that are attached and not lent */
    _Atomic uint32_t returned; /* futex: + 1 when a window comes back while somebody waits */
    _Atomic uint32_t waiters;
    struct lock lock;
    uint32_t attached; /* under lock */
    struct {
        uint32_t number;
        char *base;
    } window[SERVER_WINDOWS_MAX]; /* written before the window is first free */
} pools[SERVER_SLOTS];

/* Acquire pairs with the release in return_window and attach_window. The place, or -1. */
static int take_free_window(struct pool *pool)
{
    uint64_t free = atomic_load_explicit(&pool->free, memory_order_relaxed);
    while (free)
        if (atomic_compare_exchange_weak_explicit(&pool->free, &free, free & (free - 1), memory_order_acquire,
                                                  memory_order_relaxed))
            return __builtin_ctzll(free);
    return -1;
}

/* The place of a new window, lent to the caller; -EAGAIN when there are as many as there may be. */
static int64_t attach_window(cap_t server, struct pool *pool)
{
    if (pool->attached == SERVER_WINDOWS_MAX)
        return -EAGAIN;
    struct ipc_message message = {.label = SERVER_ATTACH};
    int64_t number = call_server_message(server, &message);
    if (number < 0)
        return number;
    char *base = memory_map(message.cap[0], SERVER_WINDOW_BYTES, MAP_READ | MAP_WRITE);
    sys_cap_close(message.cap[0]);
    if (!base)
        return -ENOMEM;
    pool->window[pool->attached].number = (uint32_t)number;
    pool->window[pool->attached].base = base;
    return pool->attached++;
}

/* A return that comes after the look at `returned` changes it, and futex_wait comes back at once. */
static int64_t wait_for_window(struct pool *pool)
{
    struct lock_wait wait = begin_lock_wait(TARN_LOCK_WINDOW, pool, 0);
    atomic_fetch_add(&pool->waiters, 1);
    int64_t place;
    for (;;) {
        uint32_t seen = atomic_load(&pool->returned);
        place = take_free_window(pool);
        if (place >= 0)
            break;
        sleep_for_lock(&wait, (const uint32_t *)&pool->returned, seen, TARN_FOREVER);
    }
    atomic_fetch_sub(&pool->waiters, 1);
    end_lock_wait(&wait);
    return place;
}

int64_t borrow_window(cap_t server, struct window *window)
{
    struct pool *pool = &pools[server];
    int64_t place = take_free_window(pool);
    if (place < 0) {
        lock_acquire(&pool->lock);
        place = attach_window(server, pool);
        lock_release(&pool->lock);
        if (place == -EAGAIN)
            place = wait_for_window(pool);
        if (place < 0)
            return place;
    }
    window->server = server;
    window->place = (uint32_t)place;
    window->number = pool->window[place].number;
    window->base = pool->window[place].base;
    return 0;
}

/* Sequentially consistent: the bit must be visible before `waiters` is looked at (wait_for_window). */
void return_window(struct window *window)
{
    struct pool *pool = &pools[window->server];
    atomic_fetch_or(&pool->free, 1ull << window->place);
    if (atomic_load(&pool->waiters)) {
        atomic_fetch_add(&pool->returned, 1);
        sys_futex_wake((const uint32_t *)&pool->returned, 1);
    }
}
