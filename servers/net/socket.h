/*
 * socket.h - sockets.
 *
 * A request is tried (tcp.c, udp.c, stream.c). If it cannot be done now, it returns -EAGAIN and, unless it
 * must not block, request.c queues it on the socket. Every change to a socket ends in socket_changed, which
 * retries the waiting requests and signals watches. The server has one thread, so there are no locks.
 */
#pragma once

#include <lwip/pbuf.h>
#include <lwip/tcp.h>
#include <lwip/udp.h>
#include <servers/lib/client.h>
#include <servers/lib/waiter.h>
#include <servers/lib/watch.h>
#include <servers/protocol/net.h>
#include <servers/virtio/dma.h>

/* A TCP socket is connected until its connection is reset or both sides have closed it; it is closed, too, if
 * it could not connect. It has a pcb unless it is closed. */
enum socket_state { SOCKET_NEW, SOCKET_LISTENING, SOCKET_CONNECTING, SOCKET_CONNECTED, SOCKET_CLOSED };

/* A received UDP datagram that has not been read. */
struct datagram {
    struct datagram *next;
    struct pbuf *p;
    uint64_t from;
};

struct socket {
    struct handle_object object; /* must be first */
    uint32_t type;               /* NET_TCP, NET_UDP */
    uint32_t flags;              /* O_NONBLOCK */
    enum socket_state state;
    int error; /* pending errno */
    bool end_received, read_shut, write_shut;
    union {
        struct ip_pcb *pcb;  /* the part that both share */
        struct tcp_pcb *tcp; /* NULL: closed */
        struct udp_pcb *udp;
    };
    /* Kept here, because they must outlive the pcb. 0: not bound; never connected. */
    uint64_t own_address, peer;

    struct pbuf *received; /* TCP: unread bytes */
    struct datagram *first, **last;
    uint32_t queued_bytes;        /* UDP: memory of the queued datagrams */
    struct socket *accepted;      /* listening: pending connections, oldest first */
    struct socket *next_accepted; /* in that list */
    struct stream *stream;        /* TCP: bulk sending, or NULL */
    struct waiter *waiters;
    struct watch *watches;
};

/* request.c */
extern const struct handle_class socket_handles;
extern uint32_t socket_count;
struct socket *make_socket(uint32_t type); /* one reference; the last handle_put closes it */
void socket_changed(struct socket *socket);
int lwip_errno(err_t error);
void set_address(ip_addr_t *ip, uint64_t address);
uint64_t address_of(const ip_addr_t *ip, uint16_t port);
/* By the program or by lwIP. A pcb must not be bound twice: lwIP's list of them would become a circle. */
static inline bool is_bound(const struct socket *socket)
{
    return NET_ADDRESS_PORT(socket->own_address) != 0;
}

int64_t handle_socket_request(struct server_request *request);

/* What differs between TCP and UDP. Operations return a request's result, or -EAGAIN. */
struct socket_class {
    int (*create)(struct socket *socket);
    void (*destroy)(struct socket *socket);
    uint32_t (*readiness)(const struct socket *socket); /* SERVER_POLL_* */
    int64_t (*bind)(struct socket *socket, uint64_t address);
    int64_t (*connect)(struct socket *socket, uint64_t address);
    int64_t (*send)(struct socket *socket, struct server_request *request);
    int64_t (*receive)(struct socket *socket, struct server_request *request);
    int64_t (*shut)(struct socket *socket, uint32_t how);
};
extern const struct socket_class tcp_class, udp_class;
static inline const struct socket_class *class_of(const struct socket *socket)
{
    return socket->type == NET_TCP ? &tcp_class : &udp_class;
}

/* tcp.c */
int64_t listen_tcp(struct socket *socket, uint64_t backlog);
int64_t accept_tcp(struct socket *socket, struct server_request *request);

/* netif.c: lwIP on a device. */

/* Bits of the server's notification. */
#define NET_BIT_DEVICE 1u
#define NET_BIT_TIMER  2u
bool start_stack(cap_t notification); /* false: no device */
void handle_bits(uint64_t bits);
/* Called after every request or notification: runs due timers and tells the device of queued frames. */
void finish_round(void);
/* Called for a new connection: raises its segment size as far as the path to its peer allows. */
void tune_connection(struct tcp_pcb *pcb);
bool is_own_address(uint32_t ip);       /* or none, or loopback */
void read_statistics(uint64_t word[4]); /* the words of NET_STATISTICS's reply */

/* lwip_port.c */
void start_timer(cap_t notification);  /* receives NET_BIT_TIMER when lwIP's next timer is due */
void arm_timer(uint32_t milliseconds); /* from now */

/* stream.c */
int64_t open_stream(struct socket *socket, cap_t *memory);
int64_t send_stream(struct socket *socket, struct server_request *request);
void stream_sent(struct stream *stream, struct tcp_pcb *pcb, uint32_t bytes);
/* The socket closes. With `pcb`, the stream stays until the peer has received everything and takes over the
 * pcb's callbacks. */
void detach_stream(struct stream *stream, struct tcp_pcb *pcb);
