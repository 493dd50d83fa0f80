/* SPDX-License-Identifier: BSD-2-Clause */
/* window.h - buffers that a server shares with its clients; private to servers/lib (see server.h). */
#ifndef SERVERS_LIB_WINDOW_H
#define SERVERS_LIB_WINDOW_H

#include "server.h"

void window_init(void);
int64_t window_attach(struct server_request *request);
void window_close_client(uint32_t client);

#endif
