/* SPDX-License-Identifier: BSD-2-Clause */
/* client.c - handle tables: for each client an array of sockets that grows on demand (socket.h). */
#include "socket.h"
#include <errno.h>
#include <stdlib.h>

#define HANDLES_MAX 256u

struct client {
    struct client *next;
    uint32_t pid, size;
    struct socket **sockets; /* by handle; NULL: free */
};

static struct client *clients;

static struct client *find_client(uint32_t pid)
{
    struct client *client = clients;

    while (client && client->pid != pid)
        client = client->next;
    return client;
}

static struct client *find_or_make_client(uint32_t pid)
{
    struct client *client = find_client(pid);

    if (client)
        return client;
    client = calloc(1, sizeof(*client));
    if (client) {
        client->pid = pid;
        client->next = clients;
        clients = client;
    }
    return client;
}

struct socket *find_socket(uint32_t pid, uint64_t handle)
{
    struct client *client = find_client(pid);

    return client && handle < client->size ? client->sockets[handle] : NULL;
}

int64_t add_handle(uint32_t pid, struct socket *socket)
{
    struct client *client = find_or_make_client(pid);
    uint32_t handle = 0;

    if (!client)
        return -ENOMEM;
    while (handle < client->size && client->sockets[handle])
        handle++;
    if (handle == client->size) {
        uint32_t size = client->size ? 2 * client->size : 8;
        if (size > HANDLES_MAX)
            return -EMFILE;
        struct socket **sockets = realloc(client->sockets, size * sizeof(*sockets));
        if (!sockets)
            return -ENOMEM;
        for (uint32_t i = client->size; i < size; i++)
            sockets[i] = NULL;
        client->sockets = sockets;
        client->size = size;
    }
    client->sockets[handle] = socket;
    socket->handles++;
    return handle;
}

int64_t close_handle(uint32_t pid, uint64_t handle)
{
    struct client *client = find_client(pid);

    if (!client || handle >= client->size || !client->sockets[handle])
        return -EBADF;
    struct socket *socket = client->sockets[handle];
    client->sockets[handle] = NULL;
    release_socket(socket);
    return 0;
}

void drop_client(uint32_t pid)
{
    struct client **place = &clients, *client;

    while (*place && (*place)->pid != pid)
        place = &(*place)->next;
    if (!(client = *place))
        return;
    *place = client->next;
    for (uint32_t handle = 0; handle < client->size; handle++)
        if (client->sockets[handle]) {
            forget_client(client->sockets[handle], pid);
            release_socket(client->sockets[handle]);
        }
    free(client->sockets);
    free(client);
}

int64_t inherit_handles(uint32_t parent, uint32_t child, uint64_t *handles, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!find_socket(parent, handles[i]))
            return -EBADF;
    for (uint32_t i = 0; i < count; i++) {
        int64_t handle = add_handle(child, find_socket(parent, handles[i]));
        if (handle < 0) {
            while (i-- > 0)
                close_handle(child, handles[i]);
            return handle;
        }
        handles[i] = (uint64_t)handle;
    }
    return 0;
}
