/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/lib/client.h - a server as another's client, without libc-glue's files: init asks proc, proc asks
 * fs.
 */
#ifndef SERVERS_LIB_CLIENT_H
#define SERVERS_LIB_CLIENT_H

#include <servers/protocol/server.h>
#include <tarn/abi.h>

/* A window of ours with a server. One thread uses it at a time. */
struct client_window {
    cap_t server;
    uint32_t number;
    void *bytes; /* SERVER_WINDOW_BYTES */
};

int client_attach(struct client_window *window, cap_t server); /* 0 or -errno */

/* Calls and gives the answer's label; a failed call is -errno too. The message holds the answer's words. */
int64_t client_call(cap_t server, struct ipc_message *message);

/* Puts bytes at an offset of the window and gives their span. They must fit. */
uint64_t client_put(struct client_window *window, uint32_t offset, const void *bytes, uint32_t size);

#endif
