/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/lib/worker.c - when is nobody inside a request any more? Interface: worker.h.
 *
 * A worker publishes whom it serves and that it is busy; then it looks whether the client is dead. Who buries
 * a client notes the death first and then looks at the workers. All four steps are sequentially consistent,
 * so at least one of the two sees the other: the request is dropped, or its end is waited for.
 */
#include "worker.h"
#include <stdatomic.h>
#include <stddef.h>
#include <tarn/syscall.h>

#define GRAVES 4096u /* a client's grave is reused after as many deaths: long after its last request */

static struct worker {
    _Atomic uint32_t busy;   /* odd inside a request; a futex for those who wait for its end */
    _Atomic uint32_t wanted; /* somebody does */
    _Atomic uint32_t client;
    uint32_t padding[13]; /* a cache line each */
} workers[WORKERS_MAX];

static _Atomic uint32_t graves[GRAVES]; /* pid % GRAVES: the last dead client of that place */
static __thread struct worker *self;

void worker_begin(unsigned index)
{
    self = &workers[index];
}

bool worker_enter(uint32_t client)
{
    atomic_store(&self->client, client);
    atomic_fetch_add(&self->busy, 1);
    return client == 0 || atomic_load(&graves[client % GRAVES]) != client;
}

void worker_leave(void)
{
    /* Pairs with wait_for: it sees that we are not busy, or we see that it waits. */
    atomic_fetch_add(&self->busy, 1);
    if (atomic_load(&self->wanted) && atomic_exchange(&self->wanted, 0))
        sys_futex_wake((const uint32_t *)&self->busy, UINT32_MAX);
}

/* Until the request that `seen` stands for has ended. */
static void wait_for(struct worker *worker, uint32_t seen)
{
    while (atomic_load(&worker->busy) == seen) {
        atomic_store(&worker->wanted, 1);
        sys_futex_wait((const uint32_t *)&worker->busy, seen, TARN_FOREVER);
    }
}

void worker_bury_client(uint32_t client)
{
    atomic_store(&graves[client % GRAVES], client);
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
