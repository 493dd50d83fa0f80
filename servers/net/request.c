/* request.c - maps requests of clients to operations on sockets (servers/protocol/net.h). */
#include "socket.h"
#include "stack.h"
#include <errno.h>
#include <fcntl.h>
#include <trace/net.h>

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

int64_t try_request(struct socket *socket, struct server_request *request)
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
