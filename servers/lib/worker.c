/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * worker.c - tracks which requests are in progress. Interface: worker.h.
 *
 * A worker first publishes its client and that it is busy, then checks whether the client is dead.
 * worker_drain_client first marks the client dead, then checks the workers. All four accesses are
 * sequentially consistent, so at least one side sees the other: either the worker drops the request, or
 * worker_drain_client waits for its end.
 */
#include "worker.h"
#include <stdatomic.h>
#include <stddef.h>
#include <tarn/syscall.h>

/* Dead clients remembered. An entry is reused only after this many further deaths, long after the last
 * request of the client. */
#define DEAD_CLIENTS 4096u

static struct worker {
    _Atomic uint32_t busy;   /* odd while a request is in progress; futex of those who wait for its end */
    _Atomic uint32_t wanted; /* a waiter sleeps on `busy` */
    _Atomic uint32_t client;
    uint32_t padding[13]; /* pads to a cache line */
} workers[WORKERS_MAX];

static _Atomic uint32_t
    dead_clients[DEAD_CLIENTS]; /* at index pid % DEAD_CLIENTS: the last dead client with that index */
static __thread struct worker *self;

void worker_begin(unsigned index)
{
    self = &workers[index];
}

bool worker_enter(uint32_t client)
{
    atomic_store(&self->client, client);
    atomic_fetch_add(&self->busy, 1);
    return client == 0 || atomic_load(&dead_clients[client % DEAD_CLIENTS]) != client;
}

void worker_leave(void)
{
    /* Pairs with wait_for: either it sees that this worker is not busy, or this worker sees that it waits. */
    atomic_fetch_add(&self->busy, 1);
    if (atomic_load(&self->wanted) && atomic_exchange(&self->wanted, 0))
        sys_futex_wake((const uint32_t *)&self->busy, UINT32_MAX);
}

/* Waits while `busy` is `seen`, that is until that request has ended. */
static void wait_for(struct worker *worker, uint32_t seen)
{
    while (atomic_load(&worker->busy) == seen) {
        atomic_store(&worker->wanted, 1);
        sys_futex_wait((const uint32_t *)&worker->busy, seen, TARN_FOREVER);
    }
}

void worker_drain_client(uint32_t client)
{
    atomic_store(&dead_clients[client % DEAD_CLIENTS], client);
    for (unsigned i = 0; i < WORKERS_MAX; i++) {
        struct worker *worker = &workers[i];
        uint32_t seen = atomic_load(&worker->busy);
        if (worker != self && (seen & 1) && atomic_load(&worker->client) == client)
            wait_for(worker, seen);
    }
}

void worker_wait_all(void)
{
    for (unsigned i = 0; i < WORKERS_MAX; i++) {
        uint32_t seen = atomic_load(&workers[i].busy);
        if (seen & 1)
            wait_for(&workers[i], seen);
    }
}
