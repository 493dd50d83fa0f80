/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * link_serial.c - the source serial:PATH: a virtual serial port of the guest, as a unix socket of QEMU. A tty
 * will not do: QEMU does not tell the guest when another host opens it.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <tools/tarn/source/link.h>
#include <unistd.h>

int connect_socket(const char *path, struct fail *fail)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (strlen(path) >= sizeof(address.sun_path)) {
        fail_set(fail, "the path '%s' is too long for a socket", path);
        errno = EINVAL;
        return -1;
    }
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
        fcntl(fd, F_SETFL, O_NONBLOCK) == 0)
        return fd;
    int error = errno;
    fail_set(fail, "cannot connect to %s: %s", path, strerror(error));
    if (fd >= 0)
        close(fd);
    errno = error;
    return -1;
}

static int connect_serial(const char *path, struct fail *fail)
{
    struct stat about;

    if (stat(path, &about) != 0 || S_ISSOCK(about.st_mode))
        return connect_socket(path, fail);
    fail_set(fail, "%s is not a socket: start QEMU with `-chardev socket,path=FILE,server=on,wait=off,...`",
             path);
    errno = EINVAL;
    return -1;
}

const struct source_class source_serial = LINK_SOURCE_CLASS("serial", connect_serial, LINK_JOINS);
