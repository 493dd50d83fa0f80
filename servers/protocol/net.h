/*
 * net.h - requests to the network server (SLOT_NET). For conventions and spans see server.h.
 *
 * Sockets are named by handles, small numbers valid for one client. SERVER_INHERIT makes further
 * handles of a socket; it closes with its last handle. AF_*, SOCK_*, errno values and O_NONBLOCK are those of
 * <sys/socket.h> and newlib. Without a network device every request fails with ENETDOWN.
 *
 * An address is one word: NET_ADDRESS(IPv4 address as a number, port). A request that would block returns
 * EAGAIN if the socket has O_NONBLOCK set or the request's flags include NET_NO_WAIT. SERVER_POLL works on
 * handles: a listening socket is readable when a connection is pending, a connecting socket is writable when
 * the connection attempt has finished.
 */
#pragma once

#include <servers/protocol/server.h>

#define NET_ADDRESS(ip, port)     ((uint64_t)(uint32_t)(ip) << 16 | (uint16_t)(port))
#define NET_ADDRESS_IP(address)   ((uint32_t)((address) >> 16))
#define NET_ADDRESS_PORT(address) ((uint16_t)(address))

enum {
    NET_SOCKET = 0x400, /* NET_TCP or NET_UDP, O_NONBLOCK or 0 -> handle */
    NET_CLOSE,          /* handle */
    NET_BIND,           /* handle, address (port 0: any) */
    NET_LISTEN,         /* handle, backlog */
    NET_ACCEPT,         /* handle, flags -> handle of the connection; word[0] = peer's address */
    /* handle, address, flags -> 0. If it must not block:
     * EINPROGRESS; read the result later with NET_OPTION_ERROR. */
    NET_CONNECT,
    NET_SEND,        /* handle, span, flags -> bytes accepted (TCP: possibly fewer than given) */
    NET_SEND_TO,     /* handle, span, flags, address -> bytes */
    NET_RECEIVE,     /* handle, span, flags -> bytes, 0 at end of file; word[0] = sender's address */
    NET_SHUTDOWN,    /* handle, NET_SHUT_* bits */
    NET_SOCKET_NAME, /* handle -> word[0] = local address */
    NET_PEER_NAME,   /* handle -> word[0] = peer's address */
    NET_SET_OPTION,  /* handle, NET_OPTION_*, value */
    NET_GET_OPTION,  /* handle, NET_OPTION_* -> word[0] = value */
    NET_SET_FLAGS,   /* handle, O_NONBLOCK or 0 */
    NET_STREAM,      /* handle -> cap[0] = memory of NET_STREAM_BYTES, the socket's send buffer; see below */
    NET_STREAM_SEND, /* handle, bytes, want -> bytes now free; blocks until at least `want` are */
    /* -> word[0] = sockets, [1] = TCP connections of the stack except those in TIME_WAIT, [2] = receive
     * buffers in use, [3] = bytes of the stack's heap in use */
    NET_STATISTICS,
};

#define NET_TCP 1u
#define NET_UDP 2u

#define NET_NO_WAIT 1u
#define NET_PEEK    2u /* NET_RECEIVE: do not remove the data from the queue */

#define NET_SHUT_READ  1u
#define NET_SHUT_WRITE 2u

enum {
    NET_OPTION_ERROR = 1, /* pending errno, cleared by reading it */
    NET_OPTION_NO_DELAY,  /* TCP: send small segments at once */
    NET_OPTION_KEEP_ALIVE,
    NET_OPTION_REUSE,     /* allow binding to a port in TIME_WAIT */
    NET_OPTION_BROADCAST, /* UDP */
};

/* Bulk sending over TCP without copies. NET_STREAM returns memory that the device itself reads, used as a
 * ring: the client writes its next bytes at position (bytes sent so far modulo NET_STREAM_BYTES), wrapping at
 * the end, then calls NET_STREAM_SEND with their number. Space becomes free again when the peer has
 * acknowledged the bytes. At the start all of it is free. */
#define NET_STREAM_BYTES 0x100000u
