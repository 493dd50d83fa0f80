/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/protocol/net.h - requests to the network server (SLOT_NET). Conventions, spans, windows: server.h.
 *
 * Sockets are handles: small numbers of the client. SERVER_INHERIT and NET_DUP make handles of the same
 * socket; it closes with its last handle. AF_*, SOCK_*, errno and O_NONBLOCK are <sys/socket.h>'s and
 * newlib's. Without a network device every request fails with ENETDOWN.
 *
 * An address is one word: NET_ADDRESS(IPv4 address as a number, port). Requests that wait answer EAGAIN
 * instead when the socket has O_NONBLOCK set or NET_NO_WAIT is among their flags. SERVER_POLL works on
 * handles; a listening socket is readable when a connection waits, a connecting one writable when it is done.
 */
#ifndef SERVERS_PROTOCOL_NET_H
#define SERVERS_PROTOCOL_NET_H

#include <servers/protocol/server.h>

#define NET_ADDRESS(ip, port)     ((uint64_t)(uint32_t)(ip) << 16 | (uint16_t)(port))
#define NET_ADDRESS_IP(address)   ((uint32_t)((address) >> 16))
#define NET_ADDRESS_PORT(address) ((uint16_t)(address))

enum {
    NET_SOCKET = 0x400, /* NET_TCP or NET_UDP, O_NONBLOCK or 0 -> handle */
    NET_CLOSE,          /* handle */
    NET_DUP,            /* handle -> another handle of the same socket */
    NET_BIND,           /* handle, address (port 0: any) */
    NET_LISTEN,         /* handle, backlog */
    NET_ACCEPT,         /* handle, flags -> handle of the connection; word[0] = peer's address */
    NET_CONNECT,     /* handle, address, flags -> 0. Without waiting EINPROGRESS, then NET_GET_OPTION ERROR */
    NET_SEND,        /* handle, span, flags -> bytes taken (TCP: may be fewer than given) */
    NET_SEND_TO,     /* handle, span, flags, address -> bytes */
    NET_RECEIVE,     /* handle, span, flags -> bytes, 0 at the end; word[0] = sender's address */
    NET_SHUTDOWN,    /* handle, NET_SHUT_* bits */
    NET_SOCKET_NAME, /* handle -> word[0] = own address */
    NET_PEER_NAME,   /* handle -> word[0] = peer's address */
    NET_SET_OPTION,  /* handle, NET_OPTION_*, value */
    NET_GET_OPTION,  /* handle, NET_OPTION_* -> word[0] = value */
    NET_GET_FLAGS,   /* handle -> O_NONBLOCK or 0 */
    NET_SET_FLAGS,   /* handle, O_NONBLOCK or 0 */
    NET_STREAM,      /* handle -> cap[0] = NET_STREAM_BYTES of memory, the socket's send buffer; see below */
    NET_STREAM_SEND, /* handle, bytes, want -> bytes now free, at least `want`; waits for that */
    NET_STATISTICS,  /* -> word[0] = sockets, [1] = TCP connections that the stack knows, those in TIME_WAIT
                        left  out, [2] = buffers of received bytes in use, [3] = bytes of the stack's heap in
                        use */
    NET_INTERFACE,   /* -> word[0] = own address, [1] = mask, [2] = gateway, [3] = 48-bit hardware address */
};

#define NET_TCP 1u
#define NET_UDP 2u

#define NET_NO_WAIT 1u
#define NET_PEEK    2u /* NET_RECEIVE: leave it in the queue */

#define NET_SHUT_READ  1u
#define NET_SHUT_WRITE 2u

enum {
    NET_OPTION_ERROR = 1, /* pending errno, cleared by reading it */
    NET_OPTION_TYPE,      /* NET_TCP or NET_UDP */
    NET_OPTION_NO_DELAY,  /* TCP: small segments leave at once */
    NET_OPTION_KEEP_ALIVE,
    NET_OPTION_REUSE,     /* bind to a port in TIME_WAIT */
    NET_OPTION_BROADCAST, /* UDP */
    NET_OPTION_LISTENING, /* read only */
};

/* Bulk sending over TCP without copies: NET_STREAM gives the memory from which the device itself reads. It is
 * a ring: the client writes the next bytes behind those it sent before (place = bytes sent so far modulo
 * NET_STREAM_BYTES, wrapping round) and then calls NET_STREAM_SEND with their number. A place is free again
 * when the peer has acknowledged it; all of it is free at the start. */
#define NET_STREAM_BYTES 0x100000u

#endif
