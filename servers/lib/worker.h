/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * worker.h - tracks which client each worker is serving, so that
 * others can wait for it to finish; private to servers/lib.
 */
#ifndef SERVERS_LIB_WORKER_H
#define SERVERS_LIB_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#define WORKERS_MAX 64u

void worker_begin(unsigned index);  /* the calling thread is worker `index` */
bool worker_enter(uint32_t client); /* begins a request; false: the client is dead, drop the request */
void worker_leave(void);

/* Blocks new requests of this client and waits until none is in progress. Pids are never reused. */
void worker_drain_client(uint32_t client);
/* Waits for all requests that are in progress at the time of the call. Must not be called by a worker. */
void worker_wait_all(void);

#endif
