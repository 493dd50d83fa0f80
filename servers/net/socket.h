/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/net/socket.h - sockets, the clients' handles of them, requests that wait, watches.
 *
 * A request is tried (tcp.c, udp.c, stream.c). If it cannot be done now it answers -EAGAIN, and unless the
 * client does not want to wait, request.c saves the caller and hangs the request on the socket. Whatever
 * changes a socket ends in socket_changed, which tries the waiting requests again and signals watches. The
 * server has one thread: no locks.
 */
#ifndef NET_SOCKET_H
#define NET_SOCKET_H

#include <lwip/pbuf.h>
#include <lwip/tcp.h>
#include <lwip/udp.h>
#include <servers/lib/server.h>
#include <servers/protocol/net.h>
#include <servers/virtio/dma.h>

enum socket_state { SOCKET_NEW, SOCKET_LISTENING, SOCKET_CONNECTING, SOCKET_CONNECTED, SOCKET_CLOSED };

/* A request whose answer is due when the socket allows. */
struct waiter {
    struct waiter *next;
    cap_t reply;
    struct server_request request;
};

/* SERVER_POLL: signal once when something wanted is true. */
struct watch {
    struct watch *next;
    uint32_t client, wanted;
    uint64_t handle, token, bits;
    cap_t notification;
};

struct datagram { /* UDP: received, not yet read */
    struct datagram *next;
    struct pbuf *p;
    uint64_t from;
};

struct socket {
    uint32_t type; /* NET_TCP, NET_UDP */
    uint32_t handles;
    uint32_t flags; /* O_NONBLOCK */
    enum socket_state state;
    int error; /* pending errno */
    bool end_received, read_shut, write_shut;
    union {
        struct tcp_pcb *tcp; /* NULL: gone */
        struct udp_pcb *udp;
    };
    uint64_t own_address, peer; /* once connected, so that they outlive the pcb */

    struct pbuf *received; /* TCP: bytes to be read */
    struct datagram *first, **last;
    uint32_t queued_bytes;        /* UDP: memory that they hold */
    struct socket *accepted;      /* listening: connections not yet taken, oldest first */
    struct socket *next_accepted; /* in that list */
    struct stream *stream;        /* TCP: bulk sending */
    struct waiter *waiters, **last_waiter;
    struct watch *watches;
};

/* socket.c */
extern uint32_t socket_count;
struct socket *make_socket(uint32_t type);
void free_socket(struct socket *socket);    /* nothing hangs on it */
void release_socket(struct socket *socket); /* one handle less; the last closes it */
void socket_changed(struct socket *socket);
int64_t wait_on_socket(struct socket *socket, struct server_request *request); /* SERVER_LATER, or -errno */
int64_t watch_socket(struct socket *socket, struct server_request *request);
void forget_client(struct socket *socket, uint32_t client); /* its waiting requests and watches */
int lwip_errno(err_t error);
void set_address(ip_addr_t *ip, uint64_t address);
uint64_t address_of(const ip_addr_t *ip, uint16_t port);

/* client.c */
struct socket *find_socket(uint32_t client, uint64_t handle); /* NULL: no such handle */
int64_t add_handle(uint32_t client, struct socket *socket);   /* takes a count; handle or -errno */
int64_t close_handle(uint32_t client, uint64_t handle);
void drop_client(uint32_t client);
int64_t inherit_handles(uint32_t parent, uint32_t child, uint64_t *handles, uint32_t count);

/* request.c: tries a request on its socket; -EAGAIN: not now */
int64_t try_request(struct socket *socket, struct server_request *request);
int64_t handle_socket_request(struct server_request *request);

/* What differs between TCP and UDP. Each answers a request, or -EAGAIN. */
struct socket_class {
    int (*create)(struct socket *socket);
    void (*destroy)(struct socket *socket);
    uint32_t (*readiness)(const struct socket *socket); /* SERVER_POLL_* */
    int64_t (*bind)(struct socket *socket, uint64_t address);
    int64_t (*connect)(struct socket *socket, uint64_t address);
    int64_t (*send)(struct socket *socket, struct server_request *request);
    int64_t (*receive)(struct socket *socket, struct server_request *request);
    int64_t (*shut)(struct socket *socket, uint32_t how);
    int64_t (*set_option)(struct socket *socket, uint64_t option, uint64_t value);
    int64_t (*get_option)(struct socket *socket, uint64_t option, uint64_t *value);
};
extern const struct socket_class tcp_class, udp_class;
static inline const struct socket_class *class_of(const struct socket *socket)
{
    return socket->type == NET_TCP ? &tcp_class : &udp_class;
}

/* tcp.c */
int64_t listen_tcp(struct socket *socket, uint64_t backlog);
int64_t accept_tcp(struct socket *socket, struct server_request *request);

/* stream.c */
int64_t open_stream(struct socket *socket, cap_t *memory);
int64_t send_stream(struct socket *socket, struct server_request *request);
void stream_sent(struct stream *stream, struct tcp_pcb *pcb, uint32_t bytes);
/* The socket goes. With pcb: the stream stays until the peer has everything; it takes the pcb's callbacks. */
void leave_stream(struct stream *stream, struct tcp_pcb *pcb);

#endif
