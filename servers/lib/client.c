/* SPDX-License-Identifier: BSD-2-Clause */
/* client.c - requests from one server to another. Interface: client.h. */
#include "client.h"
#include "server.h"
#include <errno.h>
#include <string.h>
#include <tarn/runtime.h>

int64_t client_call(cap_t server, struct ipc_message *message)
{
    int64_t error = ipc_call(server, message);
    return error < 0 ? errno_of(error) : (int64_t)message->label;
}

int client_attach(struct client_buffer *shared, cap_t server)
{
    struct ipc_message message = {.label = SERVER_ATTACH};
    int64_t number = client_call(server, &message);
    if (number < 0)
        return (int)number;
    shared->bytes = memory_map(message.cap[0], SERVER_BUFFER_BYTES, MAP_READ | MAP_WRITE);
    sys_cap_close(message.cap[0]);
    shared->server = server;
    shared->number = (uint32_t)number;
    return shared->bytes ? 0 : -ENOMEM;
}

uint64_t client_put(struct client_buffer *shared, uint32_t offset, const void *bytes, uint32_t size)
{
    memcpy((char *)shared->bytes + offset, bytes, size);
    return SERVER_SPAN(shared->number, offset, size);
}
