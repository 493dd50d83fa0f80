/* SPDX-License-Identifier: BSD-2-Clause */
/* shared_buffer.h - buffers that a server shares with its clients; private to servers/lib (see server.h). */
#ifndef SERVERS_LIB_SHARED_BUFFER_H
#define SERVERS_LIB_SHARED_BUFFER_H

#include "server.h"

void shared_buffers_init(void);
int64_t shared_buffer_attach(struct server_request *request);
/* The buffers of a dead client become invalid. Returns true if there were none to reclaim before. */
bool shared_buffers_close_client(uint32_t client);
/* Unmaps the buffers of dead clients, one call for each run of adjacent ones. No request that began before
 * they became invalid may be in progress. */
void shared_buffers_reclaim(void);

#endif
