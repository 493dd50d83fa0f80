/*
 * request.c - sockets, and the requests of clients (servers/protocol/net.h), mapped to their operations. What
 * differs between TCP and UDP: tcp.c, udp.c.
 */
#include "socket.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <trace/net.h>

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

static void free_socket(struct socket *socket)
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

/* ---- requests -------------------------------------------------------------------------------------- */

static int64_t create_socket(struct server_request *request)
{
    uint64_t type = request->word[0];
    if (type != NET_TCP && type != NET_UDP)
        return -EPROTONOSUPPORT;
    struct socket *socket = make_socket((uint32_t)type);
    if (!socket)
        return -ENOMEM;
    int64_t result = class_of(socket)->create(socket);
    if (result < 0) {
        free_socket(socket);
        return result;
    }
    socket->flags = (uint32_t)request->word[1] & O_NONBLOCK;
    result = handle_add(request->client, socket);
    handle_put(socket);
    return result;
}

/* The option's bit in lwIP's pcb; 0: such a socket does not have it. */
static uint8_t option_bit(const struct socket *socket, uint64_t option)
{
    switch (option) {
    case NET_OPTION_REUSE:
        return SOF_REUSEADDR;
    case NET_OPTION_KEEP_ALIVE:
        return socket->type == NET_TCP ? SOF_KEEPALIVE : 0;
    case NET_OPTION_BROADCAST:
        return socket->type == NET_UDP ? SOF_BROADCAST : 0;
    default:
        return 0;
    }
}

static bool is_no_delay(const struct socket *socket, uint64_t option)
{
    return option == NET_OPTION_NO_DELAY && socket->type == NET_TCP && socket->state != SOCKET_LISTENING;
}

static int64_t set_option(struct socket *socket, uint64_t option, uint64_t value)
{
    uint8_t bit = option_bit(socket, option);
    if (!socket->pcb)
        return -EINVAL;
    if (is_no_delay(socket, option)) {
        if (value)
            tcp_nagle_disable(socket->tcp);
        else
            tcp_nagle_enable(socket->tcp);
        return 0;
    }
    if (bit == 0)
        return -ENOPROTOOPT;
    if (value)
        ip_set_option(socket->pcb, bit);
    else
        ip_reset_option(socket->pcb, bit);
    return 0;
}

static int64_t get_option(struct socket *socket, uint64_t option, uint64_t *value)
{
    uint8_t bit = option_bit(socket, option);
    if (option == NET_OPTION_ERROR) {
        *value = (uint64_t)socket->error;
        socket->error = 0;
        return 0;
    }
    if (!socket->pcb)
        return -EINVAL;
    if (bit == 0 && !is_no_delay(socket, option))
        return -ENOPROTOOPT;
    *value = bit ? ip_get_option(socket->pcb, bit) != 0 : tcp_nagle_disabled(socket->tcp) != 0;
    return 0;
}

static int64_t try_request(struct socket *socket, struct server_request *request)
{
    uint64_t *word = request->word;
    switch (request->label) {
    case NET_BIND:
        return is_bound(socket)                           ? -EINVAL
               : !is_own_address(NET_ADDRESS_IP(word[1])) ? -EADDRNOTAVAIL
                                                          : class_of(socket)->bind(socket, word[1]);
    case NET_LISTEN:
        return listen_tcp(socket, word[1]);
    case NET_ACCEPT:
        return accept_tcp(socket, request);
    case NET_CONNECT:
        return NET_ADDRESS_PORT(word[1]) ? class_of(socket)->connect(socket, word[1]) : -EADDRNOTAVAIL;
    case NET_SEND:
    case NET_SEND_TO:
        return class_of(socket)->send(socket, request);
    case NET_RECEIVE:
        return class_of(socket)->receive(socket, request);
    case NET_SHUTDOWN:
        return class_of(socket)->shut(socket, (uint32_t)word[1]);
    case NET_SOCKET_NAME:
        word[0] = socket->own_address;
        return 0;
    case NET_PEER_NAME:
        word[0] = socket->peer;
        return socket->state == SOCKET_CONNECTED ? 0 : -ENOTCONN;
    case NET_SET_OPTION:
        return set_option(socket, word[1], word[2]);
    case NET_GET_OPTION:
        return get_option(socket, word[1], &word[0]);
    case NET_SET_FLAGS:
        socket->flags = (uint32_t)word[1] & O_NONBLOCK;
        return 0;
    case NET_STREAM:
        return open_stream(socket, &request->send[0]);
    case NET_STREAM_SEND:
        return send_stream(socket, request);
    case SERVER_POLL:
        return watch_poll(&socket->watches, request, class_of(socket)->readiness(socket));
    default:
        return -ENOSYS;
    }
}

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

/* ---- new requests ---------------------------------------------------------------------------------- */

/* Whether the request must not block: O_NONBLOCK of the socket, or NET_NO_WAIT in the request's flags, whose
 * word depends on the request. */
static bool must_not_wait(const struct socket *socket, const struct server_request *request)
{
    unsigned word = request->label == NET_ACCEPT ? 1
                    : request->label == NET_CONNECT || request->label == NET_SEND ||
                            request->label == NET_SEND_TO || request->label == NET_RECEIVE
                        ? 2
                        : 0;
    return (socket->flags & O_NONBLOCK) || (word && (request->word[word] & NET_NO_WAIT));
}

/* Checks a new NET_CONNECT only: one that is retried also finds these states, and is then complete. */
static int64_t connect_anew(const struct socket *socket)
{
    if (socket->type != NET_TCP)
        return 0;
    return socket->state == SOCKET_CONNECTING ? -EALREADY : socket->state == SOCKET_CONNECTED ? -EISCONN : 0;
}

static int64_t handle_on_socket(struct socket *socket, struct server_request *request)
{
    int64_t result = request->label == NET_CONNECT ? connect_anew(socket) : 0;
    if (result == 0)
        result = try_request(socket, request);

    if (result != -EAGAIN)
        return result;
    if (must_not_wait(socket, request))
        return request->label == NET_CONNECT ? -EINPROGRESS : -EAGAIN;
    return waiter_save(&socket->waiters, request, 0);
}

int64_t handle_socket_request(struct server_request *request)
{
    uint32_t number = (uint32_t)request->word[0];
    int64_t result;
    if (request->label == NET_STATISTICS) {
        read_statistics(request->word);
        return 0;
    }
    if (request->label == NET_SOCKET) {
        result = create_socket(request);
    } else if (request->label == NET_CLOSE) {
        result = handle_close(request->client, request->word[0]);
    } else {
        struct socket *socket = handle_get(request->client, request->word[0]);
        result = socket ? handle_on_socket(socket, request) : -EBADF;
        if (socket)
            handle_put(socket);
    }
    trace_net_socket((uint32_t)request->label, number, request->client,
                     result == SERVER_LATER ? -EAGAIN : (int32_t)result);
    return result;
}
