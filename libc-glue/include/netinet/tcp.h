/* netinet/tcp.h - the one option of TCP sockets; libc-glue/posix/socket.c. */
#pragma once

#define TCP_NODELAY 1
