/*
 * tcp.c - the network link: TCP through servers/net, sending without copies.
 *
 * A connection's send buffer is the ring of NET_STREAM, mapped twice in succession, so that a packet that
 * wraps around its end is written in one piece. A frame larger than the ring is built in a separate buffer
 * and copied to the ring piece by piece.
 *
 * net replies to each request in time or is given up (SERVER_PATIENCE_NS), and the connection with it. What
 * takes as long as a host wants is waited for without it (wait_readable), or asked for again
 * (reserve_in_ring).
 *
 * Locking: `space`, `place` and `large` belong to the sender (struct channel), which alone increases
 * `committed`; the other fields are set once.
 */
#include "traced.h"
#include <errno.h>
#include <servers/lib/server.h>
#include <servers/protocol/net.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/runtime.h>
#include <tarn/server.h>

#define LOOPBACK      127u /* 127.0.0.0/8 */
#define RECEIVE_BYTES 4096u
/* of a large frame: net sends one piece while the next is copied */
#define PIECE_BYTES   (NET_STREAM_BYTES / 4)
#define DRAIN_NS      2000000000ull
#define RETRY_NS      500000000ull

struct tcp_channel {
    struct channel channel; /* must be first: channels are cast to this type */
    uint64_t handle;
    cap_t readable;              /* notification: net has bytes */
    struct shared_buffer shared; /* for received bytes; base NULL: none */
    char *ring;                  /* address range of 2 * NET_STREAM_BYTES */
    uint64_t place, space;
    _Atomic uint64_t committed; /* read by any thread */
    struct frame_space large;   /* for a frame larger than the ring */
    bool is_large;              /* the frame under construction is there */
};

static int64_t call_net(uint64_t label, uint64_t a, uint64_t b, uint64_t c)
{
    return call_server(SLOT_NET, label, a, b, c, 0);
}

/* ---- channel --------------------------------------------------------------------------------------- */

static struct tcp_channel *tcp_of(struct channel *channel)
{
    return (struct tcp_channel *)channel;
}

/* Waits until a receive or accept does not block. False: net does not reply. It is asked again now and then,
 * because if it hangs it signals nothing. */
static bool wait_readable(uint64_t handle, cap_t readable)
{
    for (;;) {
        struct ipc_message message = {.label = SERVER_POLL,
                                      .word = {handle, SERVER_POLL_READ, 1, thread_id()},
                                      .cap = {(uint16_t)readable}};
        int64_t ready = call_server_message(SLOT_NET, &message);
        if (ready != 0)
            return ready > 0;
        sys_notification_wait(readable, deadline_after(SERVER_PATIENCE_NS));
    }
}

static size_t receive_tcp(struct channel *channel, void *bytes, size_t size)
{
    struct tcp_channel *tcp = tcp_of(channel);
    int64_t got =
        wait_readable(tcp->handle, tcp->readable)
            ? call_net(NET_RECEIVE, tcp->handle,
                       buffer_span(&tcp->shared, 0, size < RECEIVE_BYTES ? size : RECEIVE_BYTES), NET_NO_WAIT)
            : 0;
    if (got <= 0 || (uint64_t)got > size)
        return 0;
    memcpy(bytes, tcp->shared.base, (size_t)got);
    return (size_t)got;
}

static char *reserve_in_ring(struct tcp_channel *tcp, size_t size)
{
    if (tcp->space < size) {
        int64_t space;
        do
            space = call_net(NET_STREAM_SEND, tcp->handle, 0, size);
        while (space == -ETIMEDOUT && call_net(SERVER_PING, 0, 0, 0) == 0); /* the host is slow, not net */
        if (space < (int64_t)size)
            return NULL;
        tcp->space = (uint64_t)space;
    }
    return tcp->ring + tcp->place;
}

static bool commit_in_ring(struct tcp_channel *tcp, size_t size)
{
    int64_t space = call_net(NET_STREAM_SEND, tcp->handle, size, 0);
    if (space < 0)
        return false;
    tcp->space = (uint64_t)space;
    tcp->place = (tcp->place + size) % NET_STREAM_BYTES;
    tcp->committed += size;
    return true;
}

static bool commit_large(struct tcp_channel *tcp, size_t size)
{
    for (size_t done = 0, piece; done < size; done += piece) {
        piece = size - done < PIECE_BYTES ? size - done : PIECE_BYTES;
        char *to = reserve_in_ring(tcp, piece);
        if (!to)
            return false;
        memcpy(to, tcp->large.bytes + done, piece);
        if (!commit_in_ring(tcp, piece))
            return false;
    }
    return true;
}

static void *reserve_tcp(struct channel *channel, size_t size)
{
    struct tcp_channel *tcp = tcp_of(channel);
    tcp->is_large = size > NET_STREAM_BYTES;
    return tcp->is_large ? frame_space(&tcp->large, size) : reserve_in_ring(tcp, size);
}

static bool commit_tcp(struct channel *channel, size_t size)
{
    struct tcp_channel *tcp = tcp_of(channel);
    return tcp->is_large ? commit_large(tcp, size) : commit_in_ring(tcp, size);
}

static void account_tcp(struct channel *channel, uint64_t *committed, uint64_t *arrived)
{
    struct tcp_channel *tcp = tcp_of(channel);
    int64_t space = call_net(NET_STREAM_SEND, tcp->handle, 0, 0);
    uint64_t under_way = space < 0 ? 0 : NET_STREAM_BYTES - (uint64_t)space;
    *committed = atomic_load(&tcp->committed);
    *arrived = *committed < under_way ? 0 : *committed - under_way;
}

static void hang_up_tcp(struct channel *channel)
{
    call_net(NET_SHUTDOWN, tcp_of(channel)->handle, NET_SHUT_READ | NET_SHUT_WRITE, 0);
}

static void close_tcp(struct channel *channel)
{
    struct tcp_channel *tcp = tcp_of(channel);
    if (tcp->ring) {
        struct ipc_message message = {.label = NET_STREAM_SEND, .word = {tcp->handle, 0, NET_STREAM_BYTES}};
        ipc_call_deadline(SLOT_NET, &message, deadline_after(DRAIN_NS));
        sys_space_unmap(SLOT_SPACE, (uint64_t)(uintptr_t)tcp->ring, 2ull * NET_STREAM_BYTES);
    }
    call_net(NET_CLOSE, tcp->handle, 0, 0);
    if (tcp->shared.base)
        return_buffer(&tcp->shared);
    if (tcp->readable)
        sys_cap_close(tcp->readable);
    free(tcp->large.bytes);
    free(tcp);
}

/* ---- accepting ------------------------------------------------------------------------------------- */

/* Maps the memory twice in succession. Mapping an object of twice the size first finds the address range. */
static char *map_twice(cap_t memory)
{
    int64_t range = sys_memory_create(2ull * NET_STREAM_BYTES);
    if (range < 0)
        return NULL;
    int64_t address =
        sys_space_map(SLOT_SPACE, (cap_t)range, 0, 2ull * NET_STREAM_BYTES, 0, MAP_READ | MAP_WRITE);
    sys_cap_close((cap_t)range);
    if (address < 0)
        return NULL;
    sys_space_unmap(SLOT_SPACE, (uint64_t)address, 2ull * NET_STREAM_BYTES);
    for (unsigned half = 0; half < 2; half++)
        if (sys_space_map(SLOT_SPACE, memory, (uint64_t)address + half * (uint64_t)NET_STREAM_BYTES,
                          NET_STREAM_BYTES, 0, MAP_READ | MAP_WRITE | MAP_FIXED) < 0)
            return NULL;
    return (char *)(uintptr_t)address;
}

static struct channel *make_channel(uint64_t handle)
{
    struct tcp_channel *tcp = calloc(1, sizeof(*tcp));
    struct ipc_message message = {.label = NET_STREAM, .word = {handle}};
    if (!tcp)
        return NULL;
    *tcp = (struct tcp_channel){
        .channel = {receive_tcp, reserve_tcp, commit_tcp, account_tcp, hang_up_tcp, close_tcp},
        .handle = handle,
        .space = NET_STREAM_BYTES,
    };
    int64_t readable = sys_notification_create();
    tcp->readable = readable < 0 ? 0 : (cap_t)readable;
    call_net(NET_SET_OPTION, handle, NET_OPTION_NO_DELAY, 1);
    if (readable > 0 && borrow_buffer(SLOT_NET, &tcp->shared) >= 0 &&
        call_server_message(SLOT_NET, &message) >= 0) {
        tcp->ring = map_twice(message.cap[0]);
        sys_cap_close(message.cap[0]);
    }
    if (tcp->ring)
        return &tcp->channel;
    debug_printf("traced: no memory for a connection\n");
    close_tcp(&tcp->channel);
    return NULL;
}

/* Where hosts connect. */
static struct {
    uint64_t handle;
    cap_t readable; /* notification: a host connects */
} listener;

static int64_t open_listener(void)
{
    int64_t handle = call_net(NET_SOCKET, NET_TCP, 0, 0);
    if (handle < 0)
        return handle;
    call_net(NET_SET_OPTION, (uint64_t)handle, NET_OPTION_REUSE, 1);
    int64_t error = call_net(NET_BIND, (uint64_t)handle, NET_ADDRESS(0, WIRE_TCP_PORT), 0);
    if (error >= 0)
        error = call_net(NET_LISTEN, (uint64_t)handle, 8, 0);
    return error < 0 ? error : handle;
}

/* Ports of this machine from which connections are served; 0: none. */
static struct {
    pthread_mutex_t lock;
    uint16_t port[16];
    unsigned next;
} admitted = {.lock = PTHREAD_MUTEX_INITIALIZER};

void admit_port(uint16_t port)
{
    pthread_mutex_lock(&admitted.lock);
    admitted.port[admitted.next++ % 16] = port;
    pthread_mutex_unlock(&admitted.lock);
}

static bool was_admitted(uint16_t port)
{
    bool found = false;
    pthread_mutex_lock(&admitted.lock);
    for (unsigned i = 0; i < 16 && !found; i++)
        if ((found = port && admitted.port[i] == port))
            admitted.port[i] = 0;
    pthread_mutex_unlock(&admitted.lock);
    return found;
}

/* A program of this machine needs authority; hosts on the network are trusted. */
static bool may_connect(uint64_t handle, uint64_t peer)
{
    struct ipc_message name = {.label = NET_SOCKET_NAME, .word = {handle}};
    const uint32_t from = NET_ADDRESS_IP(peer);
    if (call_server_message(SLOT_NET, &name) < 0)
        return false;
    const uint32_t to = NET_ADDRESS_IP(name.word[0]);
    const bool is_local = from == to || from >> 24 == LOOPBACK || to >> 24 == LOOPBACK;
    return !is_local || was_admitted(NET_ADDRESS_PORT(peer));
}

/* Returns NULL: net does not reply, or handles or memory ran out. */
static struct channel *accept_channel(void)
{
    while (wait_readable(listener.handle, listener.readable)) {
        struct ipc_message message = {.label = NET_ACCEPT, .word = {listener.handle, NET_NO_WAIT}};
        const int64_t handle = call_server_message(SLOT_NET, &message);
        if (handle < 0)
            return NULL;
        if (may_connect((uint64_t)handle, message.word[0]))
            return make_channel((uint64_t)handle);
        call_net(NET_CLOSE, (uint64_t)handle, 0, 0);
    }
    return NULL;
}

static void *accept_all(void *argument)
{
    for (;;) {
        struct channel *channel = accept_channel();
        if (channel)
            serve_channel(channel);
        else
            sys_thread_sleep(deadline_after(RETRY_NS)); /* do not retry at full speed */
    }
    return NULL;
}

/* Returns at once, so traced starts to reply to requests when hosts can connect. */
void start_tcp(void)
{
    pthread_t thread;
    int64_t readable = sys_notification_create();
    int64_t handle = readable < 0 ? errno_of(readable) : open_listener();
    if (handle < 0) {
        debug_printf("traced: no network link: %s\n", strerror((int)-handle));
        return;
    }
    listener.handle = (uint64_t)handle;
    listener.readable = (cap_t)readable;
    if (pthread_create(&thread, NULL, accept_all, NULL) == 0)
        debug_printf("traced: trace link on TCP port %u\n", WIRE_TCP_PORT);
    else
        debug_printf("traced: cannot start the network link\n");
}
