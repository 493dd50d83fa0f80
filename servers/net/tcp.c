/* tcp.c - TCP sockets on lwIP's raw interface: its callbacks, and the requests (socket.h). */
#include "socket.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define POLL_HALF_SECONDS 2 /* memory may have become free without a callback */

/* ---- the end of a pcb ------------------------------------------------------------------------------ */

/* Sent data are still delivered: lwIP keeps the pcb, and the stream keeps its memory. */
static void close_pcb(struct socket *socket)
{
    struct tcp_pcb *pcb = socket->tcp;
    tcp_arg(pcb, NULL);
    if (socket->state == SOCKET_LISTENING) {
        tcp_accept(pcb, NULL);
        tcp_close(pcb);
        return;
    }
    tcp_recv(pcb, NULL);
    tcp_sent(pcb, NULL);
    tcp_err(pcb, NULL);
    tcp_poll(pcb, NULL, 0);
    if (socket->stream) {
        /* If received bytes were left unread, lwIP would reset
         * and free the pcb without telling the stream. */
        if (socket->received)
            tcp_recved(pcb, socket->received->tot_len);
        detach_stream(socket->stream, pcb);
        socket->stream = NULL;
    }
    if (tcp_close(pcb) != ERR_OK)
        tcp_abort(pcb);
}

/* lwIP frees a pcb in state TIME_WAIT without telling anybody, so the socket must not keep it until then. */
static void release_pcb(struct socket *socket)
{
    close_pcb(socket);
    socket->tcp = NULL;
    socket->state = SOCKET_CLOSED;
}

/* ---- callbacks from lwIP --------------------------------------------------------------------------- */

static err_t tcp_on_receive(void *argument, struct tcp_pcb *pcb, struct pbuf *p, err_t error)
{
    struct socket *socket = argument;
    if (!p) {
        socket->end_received = true;
        if (pcb->state == CLOSING || pcb->state == TIME_WAIT) /* both sides have closed */
            release_pcb(socket);
    } else if (socket->read_shut) {
        tcp_recved(pcb, p->tot_len);
        pbuf_free(p);
    } else if (socket->received) {
        pbuf_cat(socket->received, p);
    } else {
        socket->received = p;
    }
    socket_changed(socket);
    return ERR_OK;
}

static err_t tcp_on_sent(void *argument, struct tcp_pcb *pcb, u16_t length)
{
    struct socket *socket = argument;
    if (socket->stream)
        stream_sent(socket->stream, pcb, length);
    socket_changed(socket);
    return ERR_OK;
}

static err_t tcp_on_poll(void *argument, struct tcp_pcb *pcb)
{
    struct socket *socket = argument;
    if (socket->stream)
        stream_sent(socket->stream, pcb, 0);
    socket_changed(socket);
    return ERR_OK;
}

/* lwIP has already freed the pcb. */
static void tcp_on_error(void *argument, err_t error)
{
    struct socket *socket = argument;
    socket->error = error == ERR_CLSD                                         ? 0 /* both sides have closed */
                    : error == ERR_RST && socket->state == SOCKET_CONNECTING  ? ECONNREFUSED
                    : error == ERR_ABRT && socket->state == SOCKET_CONNECTING ? ETIMEDOUT
                                                                              : lwip_errno(error);
    socket->state = SOCKET_CLOSED;
    socket->tcp = NULL;
    socket_changed(socket);
}

static void take_pcb(struct socket *socket, struct tcp_pcb *pcb)
{
    socket->tcp = pcb;
    tcp_arg(pcb, socket);
    tcp_recv(pcb, tcp_on_receive);
    tcp_sent(pcb, tcp_on_sent);
    tcp_err(pcb, tcp_on_error);
    tcp_poll(pcb, tcp_on_poll, POLL_HALF_SECONDS);
}

static void note_address(struct socket *socket)
{
    socket->own_address = address_of(&socket->tcp->local_ip, socket->tcp->local_port);
}

static void note_connected(struct socket *socket)
{
    socket->state = SOCKET_CONNECTED;
    note_address(socket);
    socket->peer = address_of(&socket->tcp->remote_ip, socket->tcp->remote_port);
    tune_connection(socket->tcp);
}

static err_t tcp_on_connected(void *argument, struct tcp_pcb *pcb, err_t error)
{
    note_connected(argument);
    socket_changed(argument);
    return ERR_OK;
}

static err_t tcp_on_accept(void *argument, struct tcp_pcb *pcb, err_t error)
{
    struct socket *listener = argument, **last = &listener->accepted;
    if (error != ERR_OK || !pcb)
        return ERR_VAL;
    struct socket *socket = make_socket(NET_TCP);
    if (!socket)
        return ERR_MEM; /* lwIP aborts the connection */
    tcp_backlog_delayed(pcb);
    take_pcb(socket, pcb);
    note_connected(socket);
    while (*last)
        last = &(*last)->next_accepted;
    *last = socket;
    socket_changed(listener);
    return ERR_OK;
}

/* ---- creation and closing -------------------------------------------------------------------------- */

static int create_tcp(struct socket *socket)
{
    struct tcp_pcb *pcb = tcp_new();
    if (!pcb)
        return -ENOMEM;
    take_pcb(socket, pcb);
    return 0;
}

static void destroy_tcp(struct socket *socket)
{
    while (socket->accepted) {
        struct socket *connection = socket->accepted;
        socket->accepted = connection->next_accepted;
        if (connection->tcp)
            tcp_backlog_accepted(connection->tcp);
        handle_put(connection);
    }
    if (socket->tcp)
        close_pcb(socket);
    if (socket->stream)
        detach_stream(socket->stream, NULL);
    if (socket->received)
        pbuf_free(socket->received);
}

static uint32_t tcp_readiness(const struct socket *socket)
{
    uint32_t ready = 0;
    if (socket->state == SOCKET_LISTENING)
        return socket->accepted ? SERVER_POLL_READ : 0;
    if (socket->received || socket->end_received || socket->read_shut || socket->state == SOCKET_CLOSED)
        ready |= SERVER_POLL_READ;
    if (socket->state == SOCKET_CLOSED ||
        (socket->state == SOCKET_CONNECTED &&
         (socket->write_shut ||
          (tcp_sndbuf(socket->tcp) > TCP_SNDLOWAT && tcp_sndqueuelen(socket->tcp) < TCP_SNDQUEUELOWAT))))
        ready |= SERVER_POLL_WRITE;
    if (socket->state == SOCKET_CLOSED || (socket->end_received && socket->write_shut))
        ready |= SERVER_POLL_HANGUP;
    if (socket->error)
        ready |= SERVER_POLL_ERROR;
    return ready;
}

/* ---- requests -------------------------------------------------------------------------------------- */

static int take_error(struct socket *socket, int otherwise)
{
    int error = socket->error ? socket->error : otherwise;
    socket->error = 0;
    return error;
}

static int64_t bind_tcp(struct socket *socket, uint64_t address)
{
    ip_addr_t ip;
    set_address(&ip, address);
    err_t error = tcp_bind(socket->tcp, &ip, NET_ADDRESS_PORT(address));
    if (error == ERR_OK)
        note_address(socket);
    return -lwip_errno(error);
}

/* Returns the old value. lwIP checks only with this option that no other socket listens at the same address
 * or has the same connection, but a socket that was bound with it may have lost it since. */
static bool set_reuse(struct socket *socket, bool on)
{
    bool was_on = ip_get_option(socket->tcp, SOF_REUSEADDR) != 0;
    if (on)
        ip_set_option(socket->tcp, SOF_REUSEADDR);
    else
        ip_reset_option(socket->tcp, SOF_REUSEADDR);
    return was_on;
}

int64_t listen_tcp(struct socket *socket, uint64_t backlog)
{
    err_t error;
    if (socket->type != NET_TCP)
        return -EOPNOTSUPP;
    backlog = backlog < 1 ? 1 : backlog > 64 ? 64 : backlog;
    if (socket->state == SOCKET_LISTENING)
        tcp_backlog_set((struct tcp_pcb_listen *)socket->tcp, backlog);
    if (socket->state != SOCKET_NEW)
        return socket->state == SOCKET_LISTENING ? 0 : -EINVAL;
    int64_t bound = is_bound(socket) ? 0 : bind_tcp(socket, NET_ADDRESS(0, 0));
    if (bound < 0)
        return bound;
    tcp_poll(socket->tcp, NULL, 0);
    bool reuses = set_reuse(socket, true);
    struct tcp_pcb *pcb = tcp_listen_with_backlog_and_err(socket->tcp, (u8_t)backlog, &error);
    if (pcb)
        socket->tcp = pcb;
    set_reuse(socket, reuses);
    if (!pcb) {
        tcp_poll(socket->tcp, tcp_on_poll, POLL_HALF_SECONDS);
        return -lwip_errno(error);
    }
    socket->state = SOCKET_LISTENING;
    note_address(socket);
    tcp_accept(pcb, tcp_on_accept);
    return 0;
}

int64_t accept_tcp(struct socket *socket, struct server_request *request)
{
    struct socket *connection = socket->accepted;
    if (socket->type != NET_TCP)
        return -EOPNOTSUPP;
    if (socket->state != SOCKET_LISTENING)
        return -EINVAL;
    if (!connection)
        return -EAGAIN;
    int64_t handle = handle_add(request->client, connection);
    if (handle < 0)
        return handle;
    handle_put(connection); /* the queue's reference */
    socket->accepted = connection->next_accepted;
    connection->next_accepted = NULL;
    if (connection->tcp)
        tcp_backlog_accepted(connection->tcp);
    request->word[0] = connection->peer;
    return handle;
}

static int64_t begin_connect(struct socket *socket, uint64_t address)
{
    ip_addr_t ip;
    struct tcp_pcb *pcb = socket->tcp;
    bool reuses = set_reuse(socket, true);
    set_address(&ip, address);
    err_t error = tcp_connect(pcb, &ip, NET_ADDRESS_PORT(address), tcp_on_connected);
    set_reuse(socket, reuses);
    if (error == ERR_OK) {
        note_address(socket);
        socket->state = SOCKET_CONNECTING;
        return -EAGAIN;
    }
    if (!is_bound(socket)) { /* lwIP has chosen an address and a port, but not reserved them */
        ip_addr_set_any(false, &pcb->local_ip);
        pcb->local_port = 0;
    }
    return -lwip_errno(error);
}

/* Also called when the request is retried after a state change. */
static int64_t connect_tcp(struct socket *socket, uint64_t address)
{
    switch (socket->state) {
    case SOCKET_NEW:
        return begin_connect(socket, address);
    case SOCKET_CONNECTING:
        return -EAGAIN;
    case SOCKET_CONNECTED:
        return 0;
    case SOCKET_CLOSED:
        return -take_error(socket, socket->peer ? EISCONN : ECONNREFUSED);
    default:
        return -EOPNOTSUPP;
    }
}

static int64_t send_tcp(struct socket *socket, struct server_request *request)
{
    const void *bytes = server_span(request->client, request->word[1]);
    uint32_t length = SERVER_SPAN_LENGTH(request->word[1]);
    if (!bytes)
        return -EFAULT;
    if (socket->state == SOCKET_CONNECTING)
        return -EAGAIN;
    if (socket->state != SOCKET_CONNECTED || socket->write_shut)
        return -take_error(socket, socket->peer ? EPIPE : ENOTCONN);
    if (socket->stream)
        return -EBUSY;
    if (length == 0)
        return 0;
    if (length > tcp_sndbuf(socket->tcp))
        length = tcp_sndbuf(socket->tcp);
    if (length > 0xffff)
        length = 0xffff;
    while (length > 0) {
        err_t error = tcp_write(socket->tcp, bytes, (u16_t)length, TCP_WRITE_FLAG_COPY);
        if (error == ERR_OK) {
            tcp_output(socket->tcp);
            return length;
        }
        if (error != ERR_MEM)
            return -lwip_errno(error);
        length /= 2; /* short of memory: try less */
    }
    return -EAGAIN;
}

static int64_t receive_tcp(struct socket *socket, struct server_request *request)
{
    void *bytes = server_span(request->client, request->word[1]);
    uint32_t length = SERVER_SPAN_LENGTH(request->word[1]);
    if (!bytes)
        return -EFAULT;
    request->word[0] = socket->peer;
    if (!socket->received) {
        if (socket->end_received || socket->read_shut)
            return 0;
        if (socket->state == SOCKET_CONNECTED || socket->state == SOCKET_CONNECTING)
            return -EAGAIN;
        return socket->peer && !socket->error ? 0 : -take_error(socket, ENOTCONN);
    }
    length = pbuf_copy_partial(socket->received, bytes, (u16_t)(length > 0xffff ? 0xffff : length), 0);
    if (request->word[2] & NET_PEEK)
        return length;
    socket->received = pbuf_free_header(socket->received, (u16_t)length);
    if (socket->tcp)
        tcp_recved(socket->tcp, (u16_t)length);
    return length;
}

static int64_t shut_tcp(struct socket *socket, uint32_t how)
{
    if (socket->state != SOCKET_CONNECTED)
        return -ENOTCONN;
    if (how & NET_SHUT_READ) {
        socket->read_shut = true;
        if (socket->received) {
            tcp_recved(socket->tcp, socket->received->tot_len);
            pbuf_free(socket->received);
            socket->received = NULL;
        }
    }
    if ((how & NET_SHUT_WRITE) && !socket->write_shut) {
        err_t error = tcp_shutdown(socket->tcp, 0, 1);
        if (error != ERR_OK)
            return -lwip_errno(error);
        socket->write_shut = true;
    }
    socket_changed(socket);
    return 0;
}

const struct socket_class tcp_class = {
    .create = create_tcp,
    .destroy = destroy_tcp,
    .readiness = tcp_readiness,
    .bind = bind_tcp,
    .connect = connect_tcp,
    .send = send_tcp,
    .receive = receive_tcp,
    .shut = shut_tcp,
};
