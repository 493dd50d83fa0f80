/* SPDX-License-Identifier: BSD-2-Clause */
/* netinet/tcp.h - the one option of TCP sockets; libc-glue/posix/socket.c. */
#ifndef TARN_NETINET_TCP_H
#define TARN_NETINET_TCP_H

#define TCP_NODELAY 1

#endif
