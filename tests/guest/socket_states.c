/*
 * socket_states.c - every operation on sockets in every state, run by tests/host/sockets.
 *
 * A table has what POSIX says for each: a result, or a negative errno. After random sequences of operations
 * the server must still reply and have lost nothing. The last line is `echo: states: ...`.
 */
#include "net.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <servers/protocol/traced.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/format/wire.h>
#include <unistd.h>

#define PATIENCE_MS 5000
#define SEQUENCES   20 /* of each state */
#define STEPS       6

/* FIN_FIRST, FIN_LAST: both sides have closed, this one first or last. */
/* clang-format off */
#define FOR_STATES(X) \
    X(NEW) X(BOUND) X(LISTENING) X(CONNECTING) X(CONNECTED) X(PEER_CLOSED) X(SHUT) X(FIN_FIRST) X(FIN_LAST) X(RESET) \
    X(REFUSED) X(UDP_NEW) X(UDP_BOUND) X(UDP_CONNECTED)
/* clang-format on */
#define NUMBER(name) name,
#define NAME(name)   #name,
enum state { FOR_STATES(NUMBER) STATES };
static const char *const state_names[] = {FOR_STATES(NAME)};

static char wrong[400]; /* what was not as it should be, as much as fits */
static int wrong_count;

static void complain(const char *format, ...)
{
    size_t used = 0;
    va_list arguments;
    while (wrong[used])
        used++;
    va_start(arguments, format);
    vsnprintf(wrong + used, sizeof(wrong) - used, format, arguments);
    va_end(arguments);
    wrong_count++;
}

/* ---- sockets in a state ---------------------------------------------------------------------------- */

static int others[3], other_count; /* the peers of the socket under test */

static int keep(int fd)
{
    others[other_count++] = fd;
    return fd;
}

static int open_socket(int type)
{
    int fd = socket(AF_INET, type, 0);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

static int result(int64_t value)
{
    return value < 0 ? -errno : (int)value;
}

static int bind_to(int fd, const char *ip, uint16_t port)
{
    struct sockaddr_in address = address_of(ip, port);
    return result(bind(fd, (struct sockaddr *)&address, sizeof(address)));
}

static int connect_to(int fd, uint16_t port)
{
    struct sockaddr_in address = address_of("127.0.0.1", port);
    return result(connect(fd, (struct sockaddr *)&address, sizeof(address)));
}

static uint16_t port_of(int fd)
{
    struct sockaddr_in address = {0};
    socklen_t size = sizeof(address);
    getsockname(fd, (struct sockaddr *)&address, &size);
    return ntohs(address.sin_port);
}

static int polled(int fd, int events, int milliseconds)
{
    struct pollfd ready = {.fd = fd, .events = (short)events};
    int count = poll(&ready, 1, milliseconds);
    return count < 0 ? -errno : ready.revents;
}

static void wait_for(int fd, int events)
{
    if (!(polled(fd, events, PATIENCE_MS) & events))
        complain("no event %x; ", events);
}

static int open_bound(int type)
{
    int fd = open_socket(type);
    bind_to(fd, "127.0.0.1", 0);
    return fd;
}

static int open_listening(int backlog)
{
    int fd = open_bound(SOCK_STREAM);
    listen(fd, backlog);
    return fd;
}

/* One end; the other is kept in *peer. */
static int open_connected(int *peer)
{
    int listener = open_listening(1), fd = open_socket(SOCK_STREAM);
    connect_to(fd, port_of(listener));
    wait_for(listener, POLLIN);
    *peer = accept(listener, NULL, NULL);
    wait_for(fd, POLLOUT);
    close(listener);
    return fd;
}

/* The listener's queue is full. */
static int open_connecting(void)
{
    int listener = keep(open_listening(1)), first = keep(open_socket(SOCK_STREAM)),
        fd = open_socket(SOCK_STREAM);
    connect_to(first, port_of(listener));
    wait_for(listener, POLLIN);
    connect_to(fd, port_of(listener));
    return fd;
}

static int open_refused(int type)
{
    int fd = open_socket(type), other = open_bound(type);
    uint16_t port = port_of(other);
    close(other);
    connect_to(fd, port);
    wait_for(fd, type == SOCK_STREAM ? POLLERR : POLLOUT);
    return fd;
}

static int open_in_state(enum state state)
{
    int peer, fd;
    if (state == CONNECTING)
        return open_connecting();
    if (state == LISTENING)
        return open_listening(4);
    if (state == NEW || state == UDP_NEW)
        return open_socket(state == NEW ? SOCK_STREAM : SOCK_DGRAM);
    if (state == BOUND || state == UDP_BOUND)
        return open_bound(state == BOUND ? SOCK_STREAM : SOCK_DGRAM);
    if (state == REFUSED || state == UDP_CONNECTED)
        return open_refused(state == REFUSED ? SOCK_STREAM : SOCK_DGRAM);
    fd = open_connected(&peer);
    if (state == SHUT || state == FIN_FIRST) {
        shutdown(fd, SHUT_WR);
        wait_for(peer, POLLIN);
    }
    if (state == RESET) {
        send(fd, "x", 1, 0);
        wait_for(peer, POLLIN);
    }
    if (state == CONNECTED || state == SHUT) {
        keep(peer);
        return fd;
    }
    close(peer);
    wait_for(fd, POLLIN);
    if (state == FIN_LAST)
        shutdown(fd, SHUT_WR);
    return fd;
}

static void close_all(int fd)
{
    close(fd);
    while (other_count)
        close(others[--other_count]);
}

/* ---- operations ------------------------------------------------------------------------------------ */

static int level_of(int option)
{
    return option == TCP_NODELAY ? IPPROTO_TCP : SOL_SOCKET;
}

static int set_option(int fd, int option, int value)
{
    return result(setsockopt(fd, level_of(option), option, &value, sizeof(value)));
}

/* Of a descriptor that a call made. */
static int closed(int fd)
{
    return fd < 0 ? -errno : close(fd);
}

/* clang-format off */
enum call { BIND, LISTEN, ACCEPT, CONNECT, SEND, RECEIVE, SHUTDOWN, SET, GET, OWN_NAME, PEER_NAME, POLL, DUP };
/* clang-format on */

static int make_call(int fd, enum call call, int argument)
{
    struct sockaddr_in address;
    socklen_t size = sizeof(address);
    char bytes[sizeof(int)];
    switch (call) {
    case BIND:
        return bind_to(fd, "127.0.0.1", 0);
    case LISTEN:
        return result(listen(fd, 1));
    case ACCEPT:
        return closed(accept(fd, NULL, NULL));
    case CONNECT:
        return connect_to(fd, 9);
    case SEND:
        return result(send(fd, "x", 1, 0));
    case RECEIVE:
        return result(recv(fd, bytes, 1, 0));
    case SHUTDOWN:
        return result(shutdown(fd, argument));
    case SET:
        return set_option(fd, argument, 1);
    case GET:
        return result(getsockopt(fd, level_of(argument), argument, bytes, &(socklen_t){sizeof(bytes)}));
    case OWN_NAME:
        return result(getsockname(fd, (struct sockaddr *)&address, &size));
    case PEER_NAME:
        return result(getpeername(fd, (struct sockaddr *)&address, &size));
    case POLL:
        return polled(fd, POLLIN | POLLOUT, 0);
    default:
        return closed(dup(fd));
    }
}

#define I   POLLIN
#define O   POLLOUT
#define H   (POLLIN | POLLOUT | POLLHUP)
#define E   (H | POLLERR)
#define AG  -EAGAIN
#define INV -EINVAL
#define NC  -ENOTCONN
#define IS  -EISCONN
#define IN  -EINPROGRESS
#define AL  -EALREADY
#define NO  -EOPNOTSUPP
#define PI  -EPIPE
#define RST -ECONNRESET
#define REF -ECONNREFUSED
#define DA  -EDESTADDRREQ
#define OPT -ENOPROTOOPT

/* clang-format off */
static const struct {
    const char *name;
    enum call call;
    int argument;
    int wanted[STATES];
} operations[] = {
    /*                                      NEW  BND  LIS  CING CTED PEER SHUT FIRST LAST RST REF | NEW BND  CTED */
    {"bind", BIND, 0,                      {0,   INV, INV, INV, INV, INV, INV, INV, INV, INV, INV,   0,   INV, INV}},
    {"listen", LISTEN, 0,                  {0,   0,   0,   INV, INV, INV, INV, INV, INV, INV, INV,   NO,  NO,  NO}},
    {"accept", ACCEPT, 0,                  {INV, INV, AG,  INV, INV, INV, INV, INV, INV, INV, INV,   NO,  NO,  NO}},
    {"connect", CONNECT, 0,                {IN,  IN,  NO,  AL,  IS,  IS,  IS,  IS,  IS,  RST, REF,   0,   0,   0}},
    {"send", SEND, 0,                      {NC,  NC,  NC,  AG,  1,   1,   PI,  PI,  PI,  RST, REF,   DA,  DA,  1}},
    {"receive", RECEIVE, 0,                {NC,  NC,  NC,  AG,  AG,  0,   AG,  0,   0,   RST, REF,   AG,  AG,  AG}},
    {"shut read", SHUTDOWN, SHUT_RD,       {NC,  NC,  NC,  NC,  0,   0,   0,   NC,  NC,  NC,  NC,    NC,  NC,  0}},
    {"shut write", SHUTDOWN, SHUT_WR,      {NC,  NC,  NC,  NC,  0,   0,   0,   NC,  NC,  NC,  NC,    NC,  NC,  0}},
    {"wrong shut", SHUTDOWN, 7,            {INV, INV, INV, INV, INV, INV, INV, INV, INV, INV, INV,   INV, INV, INV}},
    {"set reuse", SET, SO_REUSEADDR,       {0,   0,   0,   0,   0,   0,   0,   INV, INV, INV, INV,   0,   0,   0}},
    {"set nodelay", SET, TCP_NODELAY,      {0,   0,   OPT, 0,   0,   0,   0,   INV, INV, INV, INV,   OPT, OPT, OPT}},
    {"get nodelay", GET, TCP_NODELAY,      {0,   0,   OPT, 0,   0,   0,   0,   INV, INV, INV, INV,   OPT, OPT, OPT}},
    {"set error", SET, SO_ERROR,           {OPT, OPT, OPT, OPT, OPT, OPT, OPT, INV, INV, INV, INV,   OPT, OPT, OPT}},
    {"get error", GET, SO_ERROR,           {0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,     0,   0,   0}},
    {"own name", OWN_NAME, 0,              {0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,     0,   0,   0}},
    {"peer name", PEER_NAME, 0,            {NC,  NC,  NC,  NC,  0,   0,   0,   NC,  NC,  NC,  NC,    NC,  NC,  0}},
    {"poll", POLL, 0,                      {0,   0,   0,   0,   O,   I|O, O,   H,   H,   E,   E,     O,   O,   O}},
    {"dup", DUP, 0,                        {0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,     0,   0,   0}},
};
/* clang-format on */
#define OPERATIONS (int)(sizeof(operations) / sizeof(operations[0]))

static int run(int fd, int i)
{
    return make_call(fd, operations[i].call, operations[i].argument);
}

static uint64_t ask_for_sockets(void)
{
    const uint64_t count = count_sockets();
    if (!count)
        complain("the server does not reply; ");
    return count;
}

static void try_table(enum state state)
{
    for (int i = 0; i < OPERATIONS && !strstr(wrong, "reply"); i++) {
        int fd = open_in_state(state), came = run(fd, i);
        if (came != operations[i].wanted[state])
            complain("%s of %s: %d, wanted %d; ", operations[i].name, state_names[state], came,
                     operations[i].wanted[state]);
        run(fd, i); /* once more, whatever it returns */
        close_all(fd);
        ask_for_sockets();
    }
}

static void try_sequences(enum state state)
{
    for (int i = 0; i < SEQUENCES && !strstr(wrong, "reply"); i++) {
        int fd = open_in_state(state);
        for (int step = 0; step < STEPS; step++)
            run(fd, rand() % OPERATIONS);
        close_all(fd);
        ask_for_sockets();
    }
}

static void want(const char *what, int came, int wanted)
{
    if (came != wanted)
        complain("%s: %d, wanted %d; ", what, came, wanted);
}

/* A socket that drops SO_REUSEADDR after bind does not get the connections of the one that listens there. */
static void try_addresses(void)
{
    int first = open_socket(SOCK_STREAM), second = open_socket(SOCK_STREAM),
        datagrams = open_socket(SOCK_DGRAM);
    struct sockaddr_in everybody = address_of("255.255.255.255", 9);
    want("bind where nobody may", bind_to(first, "192.0.2.1", 0), -EADDRNOTAVAIL);
    want("connect to port 0", connect_to(first, 0), -EADDRNOTAVAIL);
    set_option(first, SO_REUSEADDR, 1);
    want("bind", bind_to(first, "127.0.0.1", 0), 0);
    want("listen", listen(first, 1), 0);
    want("bind to its port", bind_to(second, "127.0.0.1", port_of(first)), -EADDRINUSE);
    set_option(second, SO_REUSEADDR, 1);
    want("bind to its port with reuse", bind_to(second, "127.0.0.1", port_of(first)), 0);
    set_option(second, SO_REUSEADDR, 0);
    want("listen at its port", result(listen(second, 1)), -EADDRINUSE);
    want("broadcast without the option",
         result(sendto(datagrams, "x", 1, 0, (struct sockaddr *)&everybody, sizeof(everybody))), -EACCES);
    close(first);
    close(second);
    close(datagrams);
}

/* traced has no time for a program without authority. */
static void try_trace_link(void)
{
    int fd = open_socket(SOCK_STREAM);
    char byte;
    connect_to(fd, WIRE_TCP_PORT);
    wait_for(fd, POLLIN);
    want("trace link", result(recv(fd, &byte, 1, 0)), 0);
    want("admission to it", (int)call_server(SLOT_TRACED, TRACED_ADMIT, port_of(fd), 0, 0, 0), -EPERM);
    close(fd);
}

int main(void)
{
    set_server_patience(PATIENCE_MS * 1000000ull);
    uint64_t before = ask_for_sockets();
    for (enum state state = 0; state < STATES; state++)
        try_table(state);
    try_addresses();
    try_trace_link();
    for (enum state state = 0; state < STATES; state++)
        try_sequences(state);
    if (ask_for_sockets() > before) /* fewer: a connection of the host has ended meanwhile */
        complain("%d sockets left; ", (int)(ask_for_sockets() - before));
    set_server_patience(0);
    printf("echo: states: %s\n", wrong_count ? wrong : "as they should be");
    return wrong_count != 0;
}
