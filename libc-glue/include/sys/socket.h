/* sys/socket.h - sockets of the net server (IPv4: TCP and UDP); libc-glue/posix/socket.c. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

typedef uint32_t socklen_t;
typedef uint16_t sa_family_t;

#define AF_UNSPEC 0
#define AF_INET   2
#define PF_INET   AF_INET

#define SOCK_STREAM 1
#define SOCK_DGRAM  2

#define SOL_SOCKET   0xfff
#define SO_REUSEADDR 4
#define SO_KEEPALIVE 8
#define SO_BROADCAST 32
#define SO_RCVBUF    0x1002
#define SO_SNDBUF    0x1001
#define SO_RCVTIMEO  0x1006
#define SO_SNDTIMEO  0x1005
#define SO_ERROR     0x1007

#define MSG_PEEK     1
#define MSG_WAITALL  2
#define MSG_DONTWAIT 8
#define MSG_NOSIGNAL 32

#define SHUT_RD   0
#define SHUT_WR   1
#define SHUT_RDWR 2

#define SOMAXCONN 16

struct sockaddr {
    sa_family_t sa_family;
    char sa_data[14];
};
struct sockaddr_storage {
    sa_family_t ss_family;
    char reserved[126];
} __attribute__((aligned(8)));

int socket(int domain, int type, int protocol);
int bind(int fd, const struct sockaddr *address, socklen_t length);
int listen(int fd, int backlog);
int accept(int fd, struct sockaddr *address, socklen_t *length);
int connect(int fd, const struct sockaddr *address, socklen_t length);
ssize_t send(int fd, const void *buffer, size_t size, int flags);
ssize_t recv(int fd, void *buffer, size_t size, int flags);
ssize_t sendto(int fd, const void *buffer, size_t size, int flags, const struct sockaddr *to,
               socklen_t length);
ssize_t recvfrom(int fd, void *buffer, size_t size, int flags, struct sockaddr *from, socklen_t *length);
int shutdown(int fd, int how);
int getsockname(int fd, struct sockaddr *address, socklen_t *length);
int getpeername(int fd, struct sockaddr *address, socklen_t *length);
int setsockopt(int fd, int level, int option, const void *value, socklen_t length);
int getsockopt(int fd, int level, int option, void *value, socklen_t *length);
