/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * link_tcp.c - the source tcp:HOST:PORT: a network link to servers/traced.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <tools/tarn/source/link.h>
#include <unistd.h>

static int connect_one(const struct addrinfo *info)
{
    int fd = socket(info->ai_family, info->ai_socktype | SOCK_CLOEXEC, info->ai_protocol);
    int on = 1;

    if (fd < 0)
        return -1;
    if (connect(fd, info->ai_addr, info->ai_addrlen) != 0 || fcntl(fd, F_SETFL, O_NONBLOCK) != 0) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return fd;
}

int connect_tcp(const char *address, struct fail *fail)
{
    char host[256];
    const char *colon = strrchr(address, ':');
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_family = AF_UNSPEC}, *list = NULL;
    int fd = -1;

    if (!colon || colon == address || colon[1] == 0 || (size_t)(colon - address) >= sizeof(host)) {
        fail_set(fail, "'%s' is not HOST:PORT", address);
        errno = EINVAL;
        return -1;
    }
    if (strtoul(colon + 1, NULL, 10) > UINT16_MAX) { /* getaddrinfo would use its low bits */
        fail_set(fail, "'%s': the port is above %u", address, UINT16_MAX);
        errno = EINVAL;
        return -1;
    }
    memcpy(host, address, (size_t)(colon - address));
    host[colon - address] = 0;
    int error = getaddrinfo(host, colon + 1, &hints, &list);
    if (error != 0) {
        fail_set(fail, "no address for '%s': %s", address, gai_strerror(error));
        errno = EINVAL;
        return -1;
    }
    for (struct addrinfo *info = list; info && fd < 0; info = info->ai_next)
        fd = connect_one(info);
    if (fd < 0)
        fail_set(fail, "cannot connect to %s: %s%s", address, strerror(errno),
                 errno == ECONNREFUSED
                     ? "; does a guest run there? `make run PORT=7000` starts one for port 7000"
                     : "");
    freeaddrinfo(list);
    return fd;
}

const struct source_class source_tcp = LINK_SOURCE_CLASS("tcp", connect_tcp, LINK_BEGINS);
