/* SPDX-License-Identifier: BSD-2-Clause */
/* socket.c - what TCP and UDP sockets share: creation and closing, waiting requests, watches (socket.h). */
#include "socket.h"
#include <errno.h>
#include <stdlib.h>
#include <tarn/syscall.h>

/* ---- creation and closing -------------------------------------------------------------------------- */

uint32_t socket_count;

struct socket *make_socket(uint32_t type)
{
    struct socket *socket = calloc(1, sizeof(*socket));

    if (!socket)
        return NULL;
    socket_count++;
    socket->type = type;
    socket->last = &socket->first;
    socket->last_waiter = &socket->waiters;
    return socket;
}

void free_socket(struct socket *socket)
{
    socket_count--;
    free(socket);
}

static void answer_waiter(struct waiter *waiter, int64_t result)
{
    server_answer(waiter->reply, result, waiter->request.word, IPC_WORDS);
    free(waiter);
}

static void remove_watch(struct watch **place)
{
    struct watch *watch = *place;

    *place = watch->next;
    sys_cap_close(watch->notification);
    free(watch);
}

void release_socket(struct socket *socket)
{
    if (socket->handles > 0 && --socket->handles > 0)
        return;
    while (socket->waiters) {
        struct waiter *waiter = socket->waiters;
        socket->waiters = waiter->next;
        answer_waiter(waiter, -EBADF);
    }
    while (socket->watches)
        remove_watch(&socket->watches);
    class_of(socket)->destroy(socket);
    free_socket(socket);
}

/* ---- waiting --------------------------------------------------------------------------------------- */

int64_t wait_on_socket(struct socket *socket, struct server_request *request)
{
    struct waiter *waiter = calloc(1, sizeof(*waiter));

    if (!waiter)
        return -ENOMEM;
    waiter->request = *request;
    waiter->reply = server_save_reply();
    if (waiter->reply == 0) {
        free(waiter);
        return -ENOMEM;
    }
    *socket->last_waiter = waiter;
    socket->last_waiter = &waiter->next;
    return SERVER_LATER;
}

/* Retries each waiting request once, in order. None of them closes the socket. */
static void retry_waiters(struct socket *socket)
{
    struct waiter **place = &socket->waiters;

    while (*place) {
        struct waiter *waiter = *place;
        int64_t result = try_request(socket, &waiter->request);
        if (result == -EAGAIN) {
            place = &waiter->next;
            continue;
        }
        *place = waiter->next;
        if (!*place)
            socket->last_waiter = place;
        answer_waiter(waiter, result);
    }
}

static void signal_watches(struct socket *socket)
{
    uint32_t ready = class_of(socket)->readiness(socket);

    for (struct watch **place = &socket->watches; *place;) {
        struct watch *watch = *place;
        if (ready & (watch->wanted | SERVER_POLL_HANGUP | SERVER_POLL_ERROR)) {
            sys_notification_signal(watch->notification, watch->bits);
            remove_watch(place);
        } else {
            place = &watch->next;
        }
    }
}

void socket_changed(struct socket *socket)
{
    retry_waiters(socket);
    signal_watches(socket);
}

int64_t watch_socket(struct socket *socket, struct server_request *request)
{
    uint64_t handle = request->word[0], token = request->word[3];
    uint32_t wanted = (uint32_t)request->word[1], ready = class_of(socket)->readiness(socket);

    for (struct watch **place = &socket->watches; *place;)
        if ((*place)->client == request->client && (*place)->handle == handle && (*place)->token == token)
            remove_watch(place);
        else
            place = &(*place)->next;
    ready &= wanted | SERVER_POLL_HANGUP | SERVER_POLL_ERROR;
    if (wanted == 0 || ready != 0 || request->received[0] == 0)
        return wanted ? ready : 0;
    struct watch *watch = calloc(1, sizeof(*watch));
    if (!watch)
        return -ENOMEM;
    *watch = (struct watch){socket->watches,  request->client,     wanted, handle, token,
                            request->word[2], request->received[0]};
    request->received[0] = 0; /* now owned by the watch */
    socket->watches = watch;
    return 0;
}

void forget_client(struct socket *socket, uint32_t client)
{
    struct waiter **place = &socket->waiters;

    while (*place) {
        struct waiter *waiter = *place;
        if (waiter->request.client != client) {
            place = &waiter->next;
            continue;
        }
        *place = waiter->next;
        sys_cap_close(waiter->reply);
        free(waiter);
    }
    socket->last_waiter = place;
    for (struct watch **watch = &socket->watches; *watch;)
        if ((*watch)->client == client)
            remove_watch(watch);
        else
            watch = &(*watch)->next;
}

/* ---- conversions from and to lwIP ------------------------------------------------------------------ */

int lwip_errno(err_t error)
{
    switch (error) {
    case ERR_OK:
        return 0;
    case ERR_MEM:
    case ERR_BUF:
        return ENOMEM;
    case ERR_TIMEOUT:
        return ETIMEDOUT;
    case ERR_RTE:
        return EHOSTUNREACH;
    case ERR_INPROGRESS:
        return EINPROGRESS;
    case ERR_WOULDBLOCK:
        return EAGAIN;
    case ERR_USE:
        return EADDRINUSE;
    case ERR_ALREADY:
        return EALREADY;
    case ERR_ISCONN:
        return EISCONN;
    case ERR_CONN:
        return ENOTCONN;
    case ERR_ABRT:
        return ECONNABORTED;
    case ERR_RST:
        return ECONNRESET;
    case ERR_CLSD:
        return ENOTCONN;
    case ERR_IF:
        return ENETDOWN;
    default:
        return EINVAL;
    }
}

void set_address(ip_addr_t *ip, uint64_t address)
{
    ip_addr_set_ip4_u32(ip, lwip_htonl(NET_ADDRESS_IP(address)));
}

uint64_t address_of(const ip_addr_t *ip, uint16_t port)
{
    return NET_ADDRESS(lwip_ntohl(ip_addr_get_ip4_u32(ip)), port);
}
