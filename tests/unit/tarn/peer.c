/* SPDX-License-Identifier: BSD-2-Clause */
/* tests/unit/tarn/peer.c - see peer.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <tests/unit/tarn/peer.h>
#include <unistd.h>

static void *run_peer(void *argument)
{
    const struct peer *peer = argument;

    for (int fd; (fd = accept(peer->listener, NULL, NULL)) >= 0; close(fd)) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        peer->talk(fd);
    }
    return NULL;
}

void peer_start(struct peer *peer, const char *scheme, const char *path)
{
    struct sockaddr_in internet = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    const bool is_tcp = strcmp(scheme, "tcp") == 0;
    struct sockaddr *address = is_tcp ? (struct sockaddr *)&internet : (struct sockaddr *)&local;
    socklen_t length = is_tcp ? sizeof(internet) : sizeof(local);

    if (!is_tcp) {
        snprintf(local.sun_path, sizeof(local.sun_path), "%s", path);
        unlink(path);
    }
    peer->listener = socket(address->sa_family, SOCK_STREAM, 0);
    if (peer->listener < 0 || bind(peer->listener, address, length) != 0 || listen(peer->listener, 4) != 0 ||
        getsockname(peer->listener, address, &length) != 0 ||
        pthread_create(&peer->thread, NULL, run_peer, peer) != 0) {
        printf("Bail out! no listening socket: %s\n", strerror(errno));
        exit(1);
    }
    if (is_tcp)
        snprintf(peer->source, sizeof(peer->source), "tcp:127.0.0.1:%u", ntohs(internet.sin_port));
    else
        snprintf(peer->source, sizeof(peer->source), "%s:%s", scheme, path);
}

void peer_stop(struct peer *peer)
{
    shutdown(peer->listener, SHUT_RDWR);
    pthread_join(peer->thread, NULL);
    close(peer->listener);
}

bool peer_get(int fd, void *to, size_t size)
{
    return recv(fd, to, size, MSG_WAITALL) == (ssize_t)size;
}

bool peer_put(int fd, const void *from, size_t size)
{
    for (size_t sent = 0; sent < size;) {
        const ssize_t more = send(fd, (const char *)from + sent, size - sent, MSG_NOSIGNAL);
        if (more <= 0)
            return false;
        sent += (size_t)more;
    }
    return true;
}
