/* udp.c - UDP sockets on lwIP's raw interface (socket.h). */
#include "socket.h"
#include <errno.h>
#include <lwip/ip.h>
#include <stdlib.h>
#include <string.h>
#include <trace/net.h>

#define QUEUE_BYTES_MAX 0x40000u /* limit of unread datagrams; further ones are dropped */

/* Buffer memory that a datagram occupies, however short it is. */
static uint32_t bytes_held(const struct pbuf *p)
{
    return (uint32_t)pbuf_clen(p) * PBUF_POOL_BUFSIZE;
}

static void udp_on_receive(void *argument, struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *from,
                           u16_t port)
{
    struct socket *socket = argument;
    bool is_full = socket->queued_bytes + bytes_held(p) > QUEUE_BYTES_MAX;
    struct datagram *datagram = is_full ? NULL : calloc(1, sizeof(*datagram));
    if (!datagram) {
        trace_net_drop(p->tot_len, is_full ? TRACE_NET_SOCKET_FULL : TRACE_NET_NO_BUFFER);
        pbuf_free(p);
        return;
    }
    *datagram = (struct datagram){NULL, p, address_of(from, port)};
    socket->queued_bytes += bytes_held(p);
    *socket->last = datagram;
    socket->last = &datagram->next;
    socket_changed(socket);
}

static int create_udp(struct socket *socket)
{
    socket->udp = udp_new();
    if (!socket->udp)
        return -ENOMEM;
    udp_recv(socket->udp, udp_on_receive, socket);
    return 0;
}

static void remove_datagram(struct socket *socket)
{
    struct datagram *datagram = socket->first;
    socket->first = datagram->next;
    if (!socket->first)
        socket->last = &socket->first;
    socket->queued_bytes -= bytes_held(datagram->p);
    pbuf_free(datagram->p);
    free(datagram);
}

static void destroy_udp(struct socket *socket)
{
    while (socket->first)
        remove_datagram(socket);
    udp_remove(socket->udp);
}

static uint32_t udp_readiness(const struct socket *socket)
{
    return SERVER_POLL_WRITE | (socket->first || socket->read_shut ? SERVER_POLL_READ : 0);
}

static void note_address(struct socket *socket)
{
    socket->own_address = address_of(&socket->udp->local_ip, socket->udp->local_port);
}

static int64_t bind_udp(struct socket *socket, uint64_t address)
{
    ip_addr_t ip;
    set_address(&ip, address);
    err_t error = udp_bind(socket->udp, &ip, NET_ADDRESS_PORT(address));
    note_address(socket);
    return -lwip_errno(error);
}

static int64_t connect_udp(struct socket *socket, uint64_t address)
{
    ip_addr_t ip;
    set_address(&ip, address);
    err_t error = udp_connect(socket->udp, &ip, NET_ADDRESS_PORT(address));
    if (error == ERR_OK) {
        socket->state = SOCKET_CONNECTED;
        socket->peer = address;
        note_address(socket);
    }
    return -lwip_errno(error);
}

/* NET_SEND has no address: it sends to the peer. */
static int64_t send_udp(struct socket *socket, struct server_request *request)
{
    const void *bytes = server_span(request->client, request->word[1]);
    uint32_t length = SERVER_SPAN_LENGTH(request->word[1]);
    uint64_t to = request->label == NET_SEND_TO ? request->word[3] : socket->peer;
    ip_addr_t ip;
    if (!bytes)
        return -EFAULT;
    if (socket->write_shut)
        return -EPIPE;
    if (to == 0)
        return -EDESTADDRREQ;
    if (NET_ADDRESS_PORT(to) == 0)
        return -EADDRNOTAVAIL;
    if (length > 0xffff - 28)
        return -EMSGSIZE;
    struct pbuf *p = pbuf_alloc(PBUF_TRANSPORT, (u16_t)length, PBUF_RAM);
    if (!p)
        return -ENOMEM;
    pbuf_take(p, bytes, (u16_t)length);
    set_address(&ip, to);
    err_t error = udp_sendto(socket->udp, p, &ip, NET_ADDRESS_PORT(to));
    pbuf_free(p);
    note_address(socket);
    return error == ERR_OK ? (int64_t)length : error == ERR_VAL ? -EACCES : -lwip_errno(error);
}

static int64_t receive_udp(struct socket *socket, struct server_request *request)
{
    void *bytes = server_span(request->client, request->word[1]);
    uint32_t length = SERVER_SPAN_LENGTH(request->word[1]);
    if (!bytes)
        return -EFAULT;
    if (socket->read_shut)
        return 0;
    if (!socket->first)
        return -EAGAIN;
    length = pbuf_copy_partial(socket->first->p, bytes, (u16_t)(length > 0xffff ? 0xffff : length), 0);
    request->word[0] = socket->first->from;
    if (!(request->word[2] & NET_PEEK))
        remove_datagram(socket);
    return length;
}

static int64_t shut_udp(struct socket *socket, uint32_t how)
{
    if (socket->state != SOCKET_CONNECTED)
        return -ENOTCONN;
    socket->read_shut |= (how & NET_SHUT_READ) != 0;
    socket->write_shut |= (how & NET_SHUT_WRITE) != 0;
    socket_changed(socket);
    return 0;
}

const struct socket_class udp_class = {
    .create = create_udp,
    .destroy = destroy_udp,
    .readiness = udp_readiness,
    .bind = bind_udp,
    .connect = connect_udp,
    .send = send_udp,
    .receive = receive_udp,
    .shut = shut_udp,
};
