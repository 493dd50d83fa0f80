/*
 * echo.c - the guest's side of tests/host/sockets, which runs it from the shell and talks to it.
 *
 *   - `echo serve PORT` returns what it receives over TCP and UDP, to many peers at once with one poll
 *   - `echo hold PORT` binds a UDP socket and reads nothing
 *   - `echo connect IP PORT` connects to PORT, and sends back all data that it receives
 *   - `echo statistics` prints the resources in use by the network server and the kernel
 *   - `grant machine echo device` tries the network device as another driver, and what a driver must not
 *
 * The reply to the datagram "who?" is the sender's address as text. Results are lines `echo: ...`.
 */
#include "leak.h"
#include "net.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define PEERS_MAX    48
#define BUFFER_BYTES 0x10000u

static void say(const char *what, const char *more)
{
    printf("echo: %s%s%s\n", what, more ? ": " : "", more ? more : "");
    fflush(stdout);
}

static bool complain(const char *what)
{
    say(what, strerror(errno));
    return false;
}

static bool same_address(const struct sockaddr_in *a, const struct sockaddr_in *b)
{
    return a->sin_family == b->sin_family && a->sin_port == b->sin_port &&
           a->sin_addr.s_addr == b->sin_addr.s_addr;
}

struct peer {
    int fd; /* -1: unused */
    bool ended;
    size_t from, to; /* range of the buffer that was received and not yet sent */
    char buffer[BUFFER_BYTES];
};

static struct peer *peers[PEERS_MAX];

static int open_bound(int type, const char *port)
{
    struct sockaddr_in address = address_of("0.0.0.0", (uint16_t)atoi(port));
    int fd = socket(AF_INET, type, 0), on = 1;
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
        bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        return -1;
    return fd;
}

static void take_peer(int listener)
{
    struct sockaddr_in told, asked;
    socklen_t told_size = sizeof(told), asked_size = sizeof(asked);
    int fd = accept(listener, (struct sockaddr *)&told, &told_size), place = 0;
    if (fd < 0) {
        complain("accept");
        return;
    }
    while (place < PEERS_MAX - 1 && peers[place])
        place++;
    struct peer *peer = peers[place] ? NULL : calloc(1, sizeof(*peer));
    /* If the peer has already closed, getpeername fails, which is correct. */
    bool named = getpeername(fd, (struct sockaddr *)&asked, &asked_size) == 0;
    if (!peer || (named && !same_address(&told, &asked))) {
        say(peer ? "accept and getpeername disagree" : "too many peers", NULL);
        close(fd);
        free(peer);
        return;
    }
    peer->fd = fd;
    peers[place] = peer;
}

/* Reads once and writes once. Returns false if this peer is done. */
static bool serve_peer(struct peer *peer)
{
    if (peer->from == peer->to && !peer->ended) {
        ssize_t got = recv(peer->fd, peer->buffer, BUFFER_BYTES, MSG_DONTWAIT);
        if (got < 0)
            return errno == EAGAIN;
        peer->ended = got == 0;
        peer->from = 0;
        peer->to = (size_t)got;
    }
    if (peer->from < peer->to) {
        ssize_t sent = send(peer->fd, peer->buffer + peer->from, peer->to - peer->from, MSG_DONTWAIT);
        if (sent < 0)
            return errno == EAGAIN;
        peer->from += (size_t)sent;
    }
    return !(peer->ended && peer->from == peer->to);
}

static short events_of(const struct peer *peer)
{
    return peer->from == peer->to ? POLLIN : POLLOUT;
}

static void serve_datagram(int fd)
{
    static char buffer[BUFFER_BYTES];
    struct sockaddr_in from;
    socklen_t size = sizeof(from);
    ssize_t got = recvfrom(fd, buffer, sizeof(buffer), MSG_DONTWAIT, (struct sockaddr *)&from, &size);
    if (got < 0) {
        complain("recvfrom");
        return;
    }
    if (got == 4 && memcmp(buffer, "who?", 4) == 0)
        got = sprintf(buffer, "%s:%u", inet_ntoa(from.sin_addr), ntohs(from.sin_port));
    if (sendto(fd, buffer, (size_t)got, 0, (struct sockaddr *)&from, size) != got)
        complain("sendto");
}

static void serve_ready(struct pollfd *fds, const int *places, int count)
{
    if (fds[0].revents)
        take_peer(fds[0].fd);
    if (fds[1].revents)
        serve_datagram(fds[1].fd);
    for (int i = 2; i < count; i++) {
        struct peer *peer = peers[places[i]];
        if (fds[i].revents && !serve_peer(peer)) {
            close(peer->fd);
            free(peer);
            peers[places[i]] = NULL;
        }
    }
}

static bool serve(const char *port)
{
    struct pollfd fds[2 + PEERS_MAX] = {{.fd = open_bound(SOCK_STREAM, port), .events = POLLIN},
                                        {.fd = open_bound(SOCK_DGRAM, port), .events = POLLIN}};
    int places[2 + PEERS_MAX];
    if (fds[0].fd < 0 || fds[1].fd < 0 || listen(fds[0].fd, PEERS_MAX) < 0)
        return complain("serve");
    printf("echo: serving as %d\n", (int)getpid());
    fflush(stdout);
    for (;;) {
        int count = 2;
        for (int place = 0; place < PEERS_MAX; place++)
            if (peers[place]) {
                places[count] = place;
                fds[count++] = (struct pollfd){.fd = peers[place]->fd, .events = events_of(peers[place])};
            }
        if (poll(fds, (nfds_t)count, -1) < 0)
            return complain("poll");
        serve_ready(fds, places, count);
    }
}

static bool hold(const char *port)
{
    if (open_bound(SOCK_DGRAM, port) < 0)
        return complain("hold");
    printf("echo: holding as %d\n", (int)getpid());
    fflush(stdout);
    for (;;)
        sleep(60);
}

static bool connect_to(const char *ip, const char *port)
{
    static struct peer peer;
    struct sockaddr_in to = address_of(ip, (uint16_t)atoi(port)), asked;
    socklen_t size = sizeof(asked);
    peer.fd = socket(AF_INET, SOCK_STREAM, 0);
    if (peer.fd < 0 || connect(peer.fd, (struct sockaddr *)&to, sizeof(to)) < 0)
        return complain("connect");
    if (getpeername(peer.fd, (struct sockaddr *)&asked, &size) < 0 || !same_address(&asked, &to))
        return complain("getpeername");
    if (connect(peer.fd, (struct sockaddr *)&to, sizeof(to)) == 0 || errno != EISCONN)
        return complain("a second connect");
    do {
        struct pollfd ready = {.fd = peer.fd, .events = events_of(&peer)};
        if (poll(&ready, 1, -1) < 0)
            return complain("poll");
    } while (serve_peer(&peer));
    close(peer.fd);
    say("connect: all is returned", NULL);
    return true;
}

static bool show_statistics(void)
{
    struct system_stats stats = first_stats();
    struct ipc_message message = {.label = NET_STATISTICS};
    if (ipc_call(SLOT_NET, &message) < 0 || (int64_t)message.label < 0)
        return complain("statistics");
    printf("echo: statistics: sockets=%lu connections=%lu buffers=%lu heap=%lu frames=%lu replies=%lu "
           "notifications=%lu memories=%lu threads=%lu\n",
           message.word[0], message.word[1], message.word[2], message.word[3],
           (stats.frames_free + stats.slab_frames), stats.replies, stats.notifications, stats.memories,
           stats.threads);
    fflush(stdout);
    return true;
}

#define VIRTIO_NET 0x10411af4

static bool try_device(void)
{
    const int64_t found = sys_machine_device(SLOT_MACHINE, VIRTIO_NET);
    const cap_t device = found > 0 ? (cap_t)found : 0;
    unsigned bars = 0, spoilt = 0;
    for (uint32_t offset = 0; offset < 0x40; offset += 4) {
        const int64_t before = sys_device_read(device, offset, 4);
        for (uint32_t width = 1; width <= 4; width *= 2)
            if (offset != 4 || width != 2)
                spoilt += sys_device_write(device, offset, width, 0) != -E_BAD_ARGUMENT;
        spoilt += sys_device_read(device, offset, 4) != before;
    }
    for (uint32_t bar = 0; bar < 8; bar++) {
        const int64_t memory = sys_device_memory(device, bar);
        bars += memory > 0;
        spoilt += memory > 0 && (sys_memory_size((cap_t)memory) > 1 << 20 ||
                                 sys_memory_resize((cap_t)memory, 2 << 20) == 0);
    }
    const bool right = sys_device_read(device, 0, 4) == VIRTIO_NET && bars > 0 && !spoilt &&
                       sys_machine_device(SLOT_MACHINE, 0x12345678) == -E_NOT_FOUND &&
                       sys_machine_device(device, VIRTIO_NET) == -E_BAD_TYPE &&
                       sys_machine_shutdown(device, 1) == -E_BAD_TYPE && sys_cap_close(SLOT_MACHINE) == 0 &&
                       sys_machine_shutdown(SLOT_MACHINE, 1) == -E_BAD_CAP;
    printf("echo: device: %s, %u BARs, %u spoilt\n", right ? "right" : "wrong", bars, spoilt);
    return right;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    bool ok = strcmp(what, "serve") == 0 && argc == 3        ? serve(argv[2])
              : strcmp(what, "hold") == 0 && argc == 3       ? hold(argv[2])
              : strcmp(what, "connect") == 0 && argc == 4    ? connect_to(argv[2], argv[3])
              : strcmp(what, "statistics") == 0 && argc == 2 ? show_statistics()
              : strcmp(what, "device") == 0 && argc == 2     ? try_device()
                                                             : (say("bad arguments", NULL), false);
    return ok ? 0 : 1;
}
