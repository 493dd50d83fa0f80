/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/lib/worker.h - who is inside which request, so that others can wait until nobody is; private to
 * servers/lib.
 */
#ifndef SERVERS_LIB_WORKER_H
#define SERVERS_LIB_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#define WORKERS_MAX 64u

void worker_begin(unsigned index);  /* the calling thread is worker `index` */
bool worker_enter(uint32_t client); /* a request begins; false: the client is dead, drop the request */
void worker_leave(void);

/* No request of this client begins from now on, and none is under way when this returns. Pids do not come
 * again. */
void worker_bury_client(uint32_t client);
/* Every request that was under way has ended when this returns. Not from a worker. */
void worker_wait_all(void);

#endif
