/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * link_connect.c - the links to servers/traced: tcp:HOST:PORT over the network, and serial:PATH over a
 * virtual serial port of the guest, as a unix socket of QEMU. A tty will not do: QEMU does not tell the guest
 * when another host opens it.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <tools/tarn/source/link.h>
#include <unistd.h>

/* -1: errno. */
static int connect_one(int family, const void *address, socklen_t size)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    if (fd < 0)
        return -1;
    if (connect(fd, address, size) != 0 || fcntl(fd, F_SETFL, O_NONBLOCK) != 0) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    if (family != AF_UNIX)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return fd;
}

/* For a wrong address. IGNORED: of fail_set. */
static int refuse(bool ignored)
{
    (void)ignored;
    errno = EINVAL;
    return -1;
}

int connect_tcp(const char *address, struct fail *fail)
{
    char host[256];
    const char *colon = strrchr(address, ':');
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_family = AF_UNSPEC}, *list = NULL;
    int fd = -1;

    if (!colon || colon == address || colon[1] == 0 || (size_t)(colon - address) >= sizeof(host))
        return refuse(fail_set(fail, "'%s' is not HOST:PORT", address));
    if (strtoul(colon + 1, NULL, 10) > UINT16_MAX) /* getaddrinfo would use its low bits */
        return refuse(fail_set(fail, "'%s': the port is above %u", address, UINT16_MAX));
    memcpy(host, address, (size_t)(colon - address));
    host[colon - address] = 0;
    int error = getaddrinfo(host, colon + 1, &hints, &list);
    if (error != 0)
        return refuse(fail_set(fail, "no address for '%s': %s", address, gai_strerror(error)));
    for (struct addrinfo *info = list; info && fd < 0; info = info->ai_next)
        fd = connect_one(info->ai_family, info->ai_addr, info->ai_addrlen);
    if (fd < 0)
        fail_set(fail, "cannot connect to %s: %s%s", address, strerror(errno),
                 errno == ECONNREFUSED
                     ? "; does a guest run there? `make run PORT=7000` starts one for port 7000"
                     : "");
    freeaddrinfo(list);
    return fd;
}

int connect_socket(const char *path, struct fail *fail)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (strlen(path) >= sizeof(address.sun_path))
        return refuse(fail_set(fail, "the path '%s' is too long for a socket", path));
    strcpy(address.sun_path, path);
    int fd = connect_one(AF_UNIX, &address, sizeof(address)), error = errno;
    if (fd < 0)
        fail_set(fail, "cannot connect to %s: %s", path, strerror(error));
    errno = error;
    return fd;
}

int connect_serial(const char *path, struct fail *fail)
{
    struct stat about;

    if (stat(path, &about) != 0 || S_ISSOCK(about.st_mode))
        return connect_socket(path, fail);
    return refuse(fail_set(
        fail, "%s is not a socket: start QEMU with `-chardev socket,path=FILE,server=on,wait=off,...`",
        path));
}
