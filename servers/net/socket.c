/* socket.c - what TCP and UDP sockets share: creation, closing, handles, changes (socket.h). */
#include "socket.h"
#include <errno.h>
#include <stdlib.h>

/* ---- creation and closing -------------------------------------------------------------------------- */

uint32_t socket_count;

struct socket *make_socket(uint32_t type)
{
    struct socket *socket = calloc(1, sizeof(*socket));
    if (!socket)
        return NULL;
    socket_count++;
    socket->object.references = 1;
    socket->type = type;
    socket->last = &socket->first;
    return socket;
}

void free_socket(struct socket *socket)
{
    socket_count--;
    free(socket);
}

static void close_socket(void *object)
{
    struct socket *socket = object;
    waiter_reply_all(&socket->waiters, -EBADF);
    watch_free_all(&socket->watches);
    class_of(socket)->destroy(socket);
    free_socket(socket);
}

/* ---- handles --------------------------------------------------------------------------------------- */

static void handle_closed(void *object, uint32_t client, uint64_t handle, bool exiting)
{
    struct socket *socket = object;
    watch_forget(&socket->watches, client, handle);
    if (exiting)
        waiter_forget(&socket->waiters, client);
}

const struct handle_class socket_handles = {.max = 256, .free = close_socket, .closed = handle_closed};

/* ---- changes --------------------------------------------------------------------------------------- */

/* Retries each waiting request once, in order. None of them closes the socket. */
static void retry_waiters(struct socket *socket)
{
    for (struct waiter **link = &socket->waiters; *link;) {
        int64_t result = try_request(socket, &(*link)->request);
        if (result == -EAGAIN)
            link = &(*link)->next;
        else
            waiter_reply(link, result);
    }
}

void socket_changed(struct socket *socket)
{
    retry_waiters(socket);
    watch_signal(&socket->watches, class_of(socket)->readiness(socket));
}

/* ---- conversions from and to lwIP ------------------------------------------------------------------ */

int lwip_errno(err_t error)
{
    static const int errors[] = {
        [-ERR_MEM] = ENOMEM,        [-ERR_BUF] = ENOMEM,       [-ERR_TIMEOUT] = ETIMEDOUT,
        [-ERR_RTE] = EHOSTUNREACH,  [-ERR_USE] = EADDRINUSE,   [-ERR_INPROGRESS] = EINPROGRESS,
        [-ERR_WOULDBLOCK] = EAGAIN, [-ERR_ALREADY] = EALREADY, [-ERR_ISCONN] = EISCONN,
        [-ERR_CONN] = ENOTCONN,     [-ERR_CLSD] = ENOTCONN,    [-ERR_ABRT] = ECONNABORTED,
        [-ERR_RST] = ECONNRESET,    [-ERR_IF] = ENETDOWN,
    };
    const unsigned number = (unsigned)-error;
    if (error == ERR_OK)
        return 0;
    return number < sizeof(errors) / sizeof(*errors) && errors[number] ? errors[number] : EINVAL;
}

void set_address(ip_addr_t *ip, uint64_t address)
{
    ip_addr_set_ip4_u32(ip, lwip_htonl(NET_ADDRESS_IP(address)));
}

uint64_t address_of(const ip_addr_t *ip, uint16_t port)
{
    return NET_ADDRESS(lwip_ntohl(ip_addr_get_ip4_u32(ip)), port);
}
