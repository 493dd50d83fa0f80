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

int client_attach(struct client_window *window, cap_t server)
{
    struct ipc_message message = {.label = SERVER_ATTACH};
    int64_t number = client_call(server, &message);
    if (number < 0)
        return (int)number;
    window->bytes = memory_map(message.cap[0], SERVER_WINDOW_BYTES, MAP_READ | MAP_WRITE);
    sys_cap_close(message.cap[0]);
    window->server = server;
    window->number = (uint32_t)number;
    return window->bytes ? 0 : -ENOMEM;
}

uint64_t client_put(struct client_window *window, uint32_t offset, const void *bytes, uint32_t size)
{
    memcpy((char *)window->bytes + offset, bytes, size);
    return SERVER_SPAN(window->number, offset, size);
}
