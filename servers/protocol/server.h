/*
 * server.h - conventions that all servers and their clients share.
 *
 * A request is an ipc_call on the server's endpoint (SLOT_PROC, SLOT_FS, ...). Its label is the request
 * number, its words are the arguments. The label of the reply is the result: >= 0, or a negative errno of
 * newlib. The badge of the client's capability is the client's pid. Only init and proc hold capabilities with
 * badge 0, which some of the requests below require.
 *
 * Bulk data goes through shared buffers. SERVER_ATTACH returns a memory capability
 * of SERVER_BUFFER_BYTES that the server has mapped as well. Paths, buffers and arrays lie in such a buffer;
 * requests name them by a span: buffer number, offset and length in one word. A thread uses one buffer
 * exclusively while its request runs.
 *
 * A client may attach SERVER_BUFFERS_MAX buffers (EMFILE beyond that) and keeps them until it ends. When few
 * are left, the server gives them only to clients that have none and returns ENFILE to others. A buffer is
 * never given to a second client. A server reads a span only once: it copies data before it validates them.
 *
 * Labels: 0xf0.. all servers, 0x100.. proc, 0x200.. fs, 0x300.. console, 0x400.. net, 0x500.. traced. The
 * trace shows them by name (requestgen.c), so a program that serves requests of its own numbers them below
 * SERVER_LABEL_COMMON or from SERVER_LABEL_OWN upwards.
 */
#pragma once

#include <stdint.h>

#define SERVER_LABEL_COMMON 0xf0u
#define SERVER_LABEL_MIN    0x100u
#define SERVER_LABEL_OWN    0x1000u

#define SERVER_BUFFER_BYTES 0x10000u
#define SERVER_BUFFERS_MAX  64u

enum {
    /* -> result: buffer number; word[0] = bytes; cap[0] = the memory, to be mapped readable and writable */
    SERVER_ATTACH = SERVER_LABEL_COMMON + 1,
    /* A client ended: drop its handles, shared buffers and pending requests. Badge 0 only. word[0] = pid,
     * word[1] = deadline -> 0, or EAGAIN: a request of it is still in progress at the deadline, ask again */
    SERVER_CLIENT_EXIT,
    /* Gives a child its parent's open files, all or none. Badge 0 only. word[0] = parent, word[1] = child,
     * word[2] = span of the parent's handles (uint64_t), which the server overwrites with the child's. */
    SERVER_INHERIT,
    /* Polls a handle. word[0] = handle (the console's is 0), word[1] = SERVER_POLL_* wanted, word[2] = bits
     * to signal, word[3] = token, cap[0] = notification (optional) -> result: conditions true now. If the
     * result is 0 and a notification was given, the server signals it once when a wanted condition, an error
     * or a hang-up becomes true. A client has one watch per (handle, token); a new request replaces it, or
     * removes it if it has no notification. */
    SERVER_POLL,
    SERVER_PING, /* any reply means that the server has started */
};

#define SERVER_POLL_READ   1u /* a read would not block (also true at end of file) */
#define SERVER_POLL_WRITE  2u /* a write would not block */
#define SERVER_POLL_HANGUP 4u /* the other side is closed; reported even if not wanted */
#define SERVER_POLL_ERROR  8u /* also reported even if not wanted */

/* A span: 16 bits of buffer number, 24 bits of offset, 24 bits of length. */
#define SERVER_SPAN(buffer, offset, length) \
    ((uint64_t)(buffer) << 48 | (uint64_t)(offset) << 24 | (uint64_t)(length))
#define SERVER_SPAN_BUFFER(span) ((uint32_t)((span) >> 48))
#define SERVER_SPAN_OFFSET(span) ((uint32_t)((span) >> 24) & 0xffffffu)
#define SERVER_SPAN_LENGTH(span) ((uint32_t)(span)&0xffffffu)
