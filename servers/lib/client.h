/* SPDX-License-Identifier: BSD-2-Clause */
/* client.h - calls from one server to another, without libc-glue's files: init calls proc, proc calls fs. */
#ifndef SERVERS_LIB_CLIENT_H
#define SERVERS_LIB_CLIENT_H

#include <servers/protocol/server.h>
#include <tarn/abi.h>

/* A buffer shared with a server. Only one thread may use it at a time. */
struct client_buffer {
    cap_t server;
    uint32_t number;
    void *bytes; /* SERVER_BUFFER_BYTES */
};

int client_attach(struct client_buffer *shared, cap_t server); /* 0 or -errno */

/* Calls and returns the label of the reply, or -errno if the call itself failed. The message then holds the
 * words of the reply. */
int64_t client_call(cap_t server, struct ipc_message *message);

/* Copies bytes to an offset in the shared buffer and returns their span. They must fit. */
uint64_t client_put(struct client_buffer *shared, uint32_t offset, const void *bytes, uint32_t size);

#endif
