/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/protocol/server.h - what all servers and their clients agree on.
 *
 * A request is an ipc_call on the server's endpoint (SLOT_PROC, SLOT_FS, ...). Its label says what is wanted,
 * its words are the arguments. The answer's label is the result: >= 0, or a negative errno of newlib.
 * The badge of the client's capability is its pid; a badge of 0 is only held by init and proc and gives the
 * authority that the requests below ask for.
 *
 * Bulk data. A client asks each server that it moves bytes with for a window: SERVER_ATTACH answers with a
 * memory capability of SERVER_WINDOW_BYTES that the server has mapped too. Paths, buffers and arrays lie in
 * a window and requests name them with a span: window number, offset, length, in one word. A thread uses a
 * window of its own as long as its request runs. A client may attach SERVER_WINDOWS_MAX of them (EMFILE
 * beyond) and keeps them until it ends. When a server has few left it gives them only to clients that have
 * none yet; everybody else gets ENFILE. A window is never given to a second client. A server reads a span
 * once: what it must trust, it copies first.
 *
 * Labels: 1..15 all servers, 0x100.. proc, 0x200.. fs, 0x300.. console, 0x400.. net, 0x500.. traced. The
 * trace shows them by name (requestgen.c), so a program that serves requests of its own numbers them from
 * SERVER_LABEL_OWN on.
 */
#ifndef SERVERS_PROTOCOL_SERVER_H
#define SERVERS_PROTOCOL_SERVER_H

#include <stdint.h>

#define SERVER_LABEL_MIN 0x100u
#define SERVER_LABEL_OWN 0x1000u

#define SERVER_WINDOW_BYTES 0x10000u
#define SERVER_WINDOWS_MAX  64u

enum {
    /* -> result: window number; word[0] = bytes; cap[0] = the memory, to be mapped read and write */
    SERVER_ATTACH = 1,
    /* A client ended: forget its handles, windows and waiting requests. Badge 0 only. word[0] = pid */
    SERVER_CLIENT_EXIT = 2,
    /* A child gets its parent's open files. Badge 0 only. word[0] = parent, word[1] = child, word[2] = span
     * of uint64_t handles of the parent, which are overwritten by the child's. All or nothing. */
    SERVER_INHERIT = 3,
    /* word[0] = handle, word[1] = SERVER_POLL_* wanted (0: forget the watch), word[2] = bits to signal,
     * word[3] = token, cap[0] = notification (may be missing) -> result: what is true now. If that is 0 and
     * there is a notification, it is signalled once when something wanted (or an error) becomes true. A
     * client has one watch for each (handle, token): asking again replaces it. The console's handle is 0. */
    SERVER_POLL = 4,
    SERVER_PING = 5, /* any answer means that the server has started */
};

#define SERVER_POLL_READ   1u /* a read would not block (also at the end of file) */
#define SERVER_POLL_WRITE  2u /* a write would not block */
#define SERVER_POLL_HANGUP 4u /* the other side is gone; reported without being asked for */
#define SERVER_POLL_ERROR  8u /* and so is this */

/* A span: 16 bits of window, 24 bits of offset, 24 bits of length. */
#define SERVER_SPAN(window, offset, length) \
    ((uint64_t)(window) << 48 | (uint64_t)(offset) << 24 | (uint64_t)(length))
#define SERVER_SPAN_WINDOW(span) ((uint32_t)((span) >> 48))
#define SERVER_SPAN_OFFSET(span) ((uint32_t)((span) >> 24) & 0xffffffu)
#define SERVER_SPAN_LENGTH(span) ((uint32_t)(span)&0xffffffu)

#endif
