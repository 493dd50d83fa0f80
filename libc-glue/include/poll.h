/* poll.h - waits for several files at once; libc-glue/posix/poll.c. */
#pragma once

#define POLLIN   1
#define POLLPRI  2
#define POLLOUT  4
#define POLLERR  8
#define POLLHUP  16
#define POLLNVAL 32

typedef unsigned int nfds_t;
struct pollfd {
    int fd; /* negative: ignored */
    short events;
    short revents;
};

int poll(struct pollfd *fds, nfds_t count, int timeout_ms);
